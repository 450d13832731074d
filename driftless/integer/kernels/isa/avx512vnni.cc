// SPDX-License-Identifier: Apache-2.0
// Sixteen columns a vector: AVX-512 VNNI. 12 rows x 2 vectors of sums, 2 vectors of a panel and
// one row are 27 of 32 registers.
#include <cstring>

#include <immintrin.h>

#include "driftless/integer/kernels/dot_kernels.h"
#include "driftless/quant/kernels/kernel_set.h"

namespace driftless::integer {
namespace {

struct Avx512Vnni {
  using I = __m512i;
  static constexpr int kLanes = 16;
  static constexpr size_t kVectors = 2;
  static constexpr size_t kMaxRows = 12;
  static constexpr size_t kMaxBlockRows = 6;
  static constexpr uint8_t kRowFlip = 0x80;

  static I load(const void* p) noexcept { return _mm512_loadu_si512(p); }
  static void store(int32_t* p, I v) noexcept { _mm512_storeu_si512(p, v); }
  static I set(int32_t value) noexcept { return _mm512_set1_epi32(value); }
  static I broadcast(const uint8_t* p) noexcept {
    int32_t four = 0;
    std::memcpy(&four, p, sizeof(four));
    return _mm512_set1_epi32(four);
  }
  /// The intrinsic's result is a new value, for which g++ 12 copies and spills the sums.
  [[gnu::always_inline]] static void dot(I& sum, I row, I columns) noexcept {
    asm("vpdpbusd %2, %1, %0" : "+v"(sum) : "v"(row), "v"(columns));
  }
  static I add(I a, I b) noexcept { return _mm512_add_epi32(a, b); }
  static I shift_left(I v, I counts) noexcept { return _mm512_sllv_epi32(v, counts); }
  static void store_scaled(float* p, I sums, const float* column_scales, float row_scale) noexcept {
    const __m512 scale = _mm512_mul_ps(_mm512_set1_ps(row_scale), _mm512_loadu_ps(column_scales));
    _mm512_storeu_ps(p, _mm512_mul_ps(_mm512_cvtepi32_ps(sums), scale));
  }
};

#include "driftless/integer/kernels/isa/avx512_encoders.inc"
// After what it takes from there.
#include "driftless/integer/kernels/isa/avx512_scalers.inc"

constexpr Encoders kEncoders = {knows,       encode_rows, encode_columns, shift_codes,
                                shift_panel, scale_rows,  scale_columns};

}  // namespace

namespace avx512vnni {
extern constinit const KernelSet kKernels = DotKernels<Avx512Vnni>::set("avx512vnni", &kEncoders);
}  // namespace avx512vnni

}  // namespace driftless::integer
