// SPDX-License-Identifier: Apache-2.0
#include <immintrin.h>

#include "driftless/bench/isa/repeat.h"
#include "driftless/bench/peaks.h"

namespace driftless::bench {
namespace {

/// Sixteen pairs of bfloat16.
struct Dot {
  using V = __m512;
  static constexpr int64_t kPerVector = 32;
  [[gnu::always_inline]] static void step(V& sum, V a) noexcept {
    asm volatile("vdpbf16ps %1, %1, %0" : "+v"(sum) : "v"(a));
  }
};

constexpr PeakKernel kPeaks[] = {{"dot bf16 avx512", false, repeat<Dot>}};

}  // namespace

namespace avx512bf16 {
extern constinit const PeakSet kKernels = {kPeaks};
}  // namespace avx512bf16

}  // namespace driftless::bench
