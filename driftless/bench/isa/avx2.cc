// SPDX-License-Identifier: Apache-2.0
#include <immintrin.h>

#include "driftless/bench/isa/repeat.h"
#include "driftless/bench/peaks.h"

namespace driftless::bench {
namespace {

/// Eight floats.
struct Fma {
  using V = __m256;
  static constexpr int64_t kPerVector = 8;
  [[gnu::always_inline]] static void step(V& sum, V a) noexcept {
    asm volatile("vfmadd231ps %1, %1, %0" : "+x"(sum) : "x"(a));
  }
};

/// Thirty-two bytes, without the additions that a product needs beside it.
struct Madd {
  using V = __m256i;
  static constexpr int64_t kPerVector = 32;
  [[gnu::always_inline]] static void step(V& sum, V a) noexcept {
    asm volatile("vpmaddubsw %1, %1, %0" : "=x"(sum) : "x"(a));
  }
};

constexpr PeakKernel kPeaks[] = {{"fma f32 avx2", false, repeat<Fma>},
                                 {"vpmaddubsw int8 avx2", false, repeat<Madd>}};

}  // namespace

namespace avx2 {
extern constinit const PeakSet kKernels = {kPeaks};
}  // namespace avx2

}  // namespace driftless::bench
