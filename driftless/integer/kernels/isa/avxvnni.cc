// SPDX-License-Identifier: Apache-2.0
// Eight columns a vector: AVX-VNNI, the 256-bit form. 6 rows x 2 vectors of sums, 2 vectors of a
// panel and one row are 15 of 16 registers.
#include <cstring>

#include <immintrin.h>

#include "driftless/integer/kernels/dot_kernels.h"

namespace driftless::integer {
namespace {

struct AvxVnni {
  using I = __m256i;
  static constexpr int kLanes = 8;
  static constexpr size_t kVectors = 2;
  static constexpr size_t kMaxRows = 6;
  static constexpr size_t kMaxBlockRows = 3;
  static constexpr uint8_t kRowFlip = 0x80;

  static I load(const void* p) noexcept {
    return _mm256_loadu_si256(static_cast<const __m256i*>(p));
  }
  static void store(int32_t* p, I v) noexcept {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), v);
  }
  static I set(int32_t value) noexcept { return _mm256_set1_epi32(value); }
  static I broadcast(const uint8_t* p) noexcept {
    int32_t four = 0;
    std::memcpy(&four, p, sizeof(four));
    return _mm256_set1_epi32(four);
  }
  /// The intrinsic's result is a new value, for which g++ 12 copies and spills the sums.
  [[gnu::always_inline]] static void dot(I& sum, I row, I columns) noexcept {
    asm("%{vex%} vpdpbusd %2, %1, %0" : "+x"(sum) : "x"(row), "x"(columns));
  }
  static I add(I a, I b) noexcept { return _mm256_add_epi32(a, b); }
  static I shift_left(I v, I counts) noexcept { return _mm256_sllv_epi32(v, counts); }
  static void store_scaled(float* p, I sums, const float* column_scales, float row_scale) noexcept {
    const __m256 scale = _mm256_mul_ps(_mm256_set1_ps(row_scale), _mm256_loadu_ps(column_scales));
    _mm256_storeu_ps(p, _mm256_mul_ps(_mm256_cvtepi32_ps(sums), scale));
  }
};

}  // namespace

namespace avxvnni {
extern constinit const KernelSet kKernels = DotKernels<AvxVnni>::set("avxvnni");
}  // namespace avxvnni

}  // namespace driftless::integer
