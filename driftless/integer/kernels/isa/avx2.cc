// SPDX-License-Identifier: Apache-2.0
// Eight columns a vector: AVX2. vpmaddubsw adds the products of two values to a 16-bit lane, and
// vpmaddwd with 2^shift in both halves widens, adds neighbors and shifts at once.
#include <cstring>

#include <immintrin.h>

#include "driftless/integer/kernels/digit_kernels.h"

namespace driftless::integer {
namespace {

struct Avx2 {
  using I = __m256i;
  using Bytes = __m256i;
  using Narrow = __m256i;
  static constexpr int kLanes = 8;
  static constexpr size_t kVectors = 2;
  static constexpr size_t kMaxRows = 4;
  static constexpr uint8_t kRowFlip = 0x80;
  static constexpr ShiftForm kShiftForm = ShiftForm::PairedFactor;

  static I load(const int32_t* p) noexcept {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
  }
  static Bytes load_bytes(const int8_t* p) noexcept {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
  }
  static void store(int32_t* p, I v) noexcept {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), v);
  }
  static I set(int32_t value) noexcept { return _mm256_set1_epi32(value); }
  static Bytes broadcast(const uint8_t* p) noexcept {
    int32_t four = 0;
    std::memcpy(&four, p, sizeof(four));
    return _mm256_set1_epi32(four);
  }
  static Narrow narrow_zero() noexcept { return _mm256_setzero_si256(); }
  /// As one piece of assembly, because g++ 12 orders the intrinsics so that sums are spilled.
  [[gnu::always_inline]] static void narrow_add(Narrow& sum, Bytes row, Bytes columns) noexcept {
    Bytes pairs;
    asm("vpmaddubsw %3, %2, %1\n\tvpaddw %1, %0, %0"
        : "+x"(sum), "=&x"(pairs)
        : "x"(row), "x"(columns));
  }
  static I widen(Narrow sum, I factors) noexcept { return _mm256_madd_epi16(sum, factors); }
  static I add(I a, I b) noexcept { return _mm256_add_epi32(a, b); }
  static I shift_left(I v, int count) noexcept {
    return _mm256_sll_epi32(v, _mm_cvtsi32_si128(count));
  }
  static void store_scaled(float* p, I sums, const float* column_scales, float row_scale) noexcept {
    const __m256 scale = _mm256_mul_ps(_mm256_set1_ps(row_scale), _mm256_loadu_ps(column_scales));
    _mm256_storeu_ps(p, _mm256_mul_ps(_mm256_cvtepi32_ps(sums), scale));
  }
};

}  // namespace

namespace avx2 {
extern constinit const KernelSet kKernels = DigitKernels<Avx2>::set("avx2");
}  // namespace avx2

}  // namespace driftless::integer
