// SPDX-License-Identifier: Apache-2.0
#include <immintrin.h>

#include "driftless/bench/isa/repeat.h"
#include "driftless/bench/peaks.h"

namespace driftless::bench {
namespace {

/// Sixteen floats.
struct Fma {
  using V = __m512;
  static constexpr int64_t kPerVector = 16;
  [[gnu::always_inline]] static void step(V& sum, V a) noexcept {
    asm volatile("vfmadd231ps %1, %1, %0" : "+v"(sum) : "v"(a));
  }
};

constexpr PeakKernel kPeaks[] = {{"fma f32 avx512", false, repeat<Fma>}};

}  // namespace

namespace avx512 {
extern constinit const PeakSet kKernels = {kPeaks};
}  // namespace avx512

}  // namespace driftless::bench
