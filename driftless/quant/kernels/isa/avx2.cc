// SPDX-License-Identifier: Apache-2.0
// Eight lanes: AVX2.
#include <immintrin.h>

#include "driftless/quant/kernels/vector_kernels.h"

namespace driftless::quant {
namespace {

struct Avx2 {
  using F = __m256;
  using I = __m256i;
  static constexpr int64_t kLanes = 8;
  static constexpr int64_t kPackedCodes = 32;

  static F load(const float* p) noexcept { return _mm256_loadu_ps(p); }
  static void store(float* p, F v) noexcept { _mm256_storeu_ps(p, v); }
  static void store_bytes(uint8_t* p, I v) noexcept {
    const __m128i words = _mm_packus_epi32(low_half(v), high_half(v));
    _mm_storel_epi64(reinterpret_cast<__m128i*>(p), _mm_packus_epi16(words, words));
  }
  static F set(float value) noexcept { return _mm256_set1_ps(value); }
  static I set_int(uint32_t value) noexcept { return _mm256_set1_epi32(static_cast<int>(value)); }

  static F add(F a, F b) noexcept { return _mm256_add_ps(a, b); }
  static F sub(F a, F b) noexcept { return _mm256_sub_ps(a, b); }
  static F mul(F a, F b) noexcept { return _mm256_mul_ps(a, b); }
  static F div(F a, F b) noexcept { return _mm256_div_ps(a, b); }
  static F min(F a, F b) noexcept { return _mm256_min_ps(a, b); }
  static F max(F a, F b) noexcept { return _mm256_max_ps(a, b); }
  static F bit_and(F a, F b) noexcept { return _mm256_and_ps(a, b); }
  static F bit_andnot(F mask, F a) noexcept { return _mm256_andnot_ps(mask, a); }
  static F bit_or(F a, F b) noexcept { return _mm256_or_ps(a, b); }

  static I bits(F v) noexcept { return _mm256_castps_si256(v); }
  static F from_bits(I v) noexcept { return _mm256_castsi256_ps(v); }
  static I to_int(F v) noexcept { return _mm256_cvtps_epi32(v); }
  static I int_add(I a, I b) noexcept { return _mm256_add_epi32(a, b); }
  static I int_sub(I a, I b) noexcept { return _mm256_sub_epi32(a, b); }
  static I int_max(I a, I b) noexcept { return _mm256_max_epi32(a, b); }
  static I int_and(I a, I b) noexcept { return _mm256_and_si256(a, b); }
  static I int_or(I a, I b) noexcept { return _mm256_or_si256(a, b); }
  static I int_shift_right(I v, int count) noexcept {
    return _mm256_srl_epi32(v, _mm_cvtsi32_si128(count));
  }
  static uint32_t reduce_max(I v) noexcept {
    __m128i four = _mm_max_epi32(low_half(v), high_half(v));
    four = _mm_max_epi32(four, _mm_shuffle_epi32(four, 0b01'00'11'10));
    four = _mm_max_epi32(four, _mm_shuffle_epi32(four, 0b10'11'00'01));
    return static_cast<uint32_t>(_mm_cvtsi128_si32(four));
  }
  static uint32_t reduce_add(I v) noexcept {
    __m128i four = _mm_add_epi32(low_half(v), high_half(v));
    four = _mm_add_epi32(four, _mm_shuffle_epi32(four, 0b01'00'11'10));
    four = _mm_add_epi32(four, _mm_shuffle_epi32(four, 0b10'11'00'01));
    return static_cast<uint32_t>(_mm_cvtsi128_si32(four));
  }

  /// 32 codes to 16 bytes. Each 16-bit lane holds codes even | odd << 8; the odd one moves down.
  static void pack4(const uint8_t* codes, uint8_t* packed) noexcept {
    const __m256i pairs = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(codes));
    const __m256i joined = _mm256_and_si256(_mm256_or_si256(pairs, _mm256_srli_epi16(pairs, 4)),
                                            _mm256_set1_epi16(0x00ff));
    const __m128i bytes = _mm_packus_epi16(low_half(joined), high_half(joined));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(packed), bytes);
  }
  static void unpack4(const uint8_t* packed, uint8_t* codes) noexcept {
    const __m256i bytes =
        _mm256_cvtepu8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(packed)));
    const __m256i spread = _mm256_or_si256(bytes, _mm256_slli_epi16(bytes, 4));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(codes),
                        _mm256_and_si256(spread, _mm256_set1_epi8(0x0f)));
  }

 private:
  static __m128i low_half(I v) noexcept { return _mm256_castsi256_si128(v); }
  static __m128i high_half(I v) noexcept { return _mm256_extracti128_si256(v, 1); }
};

}  // namespace

namespace avx2 {
extern constinit const KernelSet kKernels = VectorKernels<Avx2>::set("avx2");
}  // namespace avx2

}  // namespace driftless::quant
