// SPDX-License-Identifier: Apache-2.0
// Sixteen lanes: AVX-512 F, BW, DQ and VL.
#include <immintrin.h>

#include "driftless/quant/kernels/vector_kernels.h"

namespace driftless::quant {
namespace {

struct Avx512 {
  using F = __m512;
  using I = __m512i;
  static constexpr int64_t kLanes = 16;
  static constexpr int64_t kPackedCodes = 64;

  static F load(const float* p) noexcept { return _mm512_loadu_ps(p); }
  static void store(float* p, F v) noexcept { _mm512_storeu_ps(p, v); }
  /// The lowest `count` lanes; zero above. Nothing else is read or written.
  static F load_first(const float* p, int64_t count) noexcept {
    return _mm512_maskz_loadu_ps(first(count), p);
  }
  static void store_first(float* p, F v, int64_t count) noexcept {
    _mm512_mask_storeu_ps(p, first(count), v);
  }
  static __mmask16 first(int64_t count) noexcept {
    return static_cast<__mmask16>((1u << count) - 1);
  }
  static void store_bytes(uint8_t* p, I v) noexcept {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm512_cvtepi32_epi8(v));
  }
  static F set(float value) noexcept { return _mm512_set1_ps(value); }
  static I set_int(uint32_t value) noexcept { return _mm512_set1_epi32(static_cast<int>(value)); }

  static F add(F a, F b) noexcept { return _mm512_add_ps(a, b); }
  static F sub(F a, F b) noexcept { return _mm512_sub_ps(a, b); }
  static F mul(F a, F b) noexcept { return _mm512_mul_ps(a, b); }
  static F div(F a, F b) noexcept { return _mm512_div_ps(a, b); }
  static F min(F a, F b) noexcept { return _mm512_min_ps(a, b); }
  static F max(F a, F b) noexcept { return _mm512_max_ps(a, b); }
  static F bit_and(F a, F b) noexcept { return _mm512_and_ps(a, b); }
  static F bit_andnot(F mask, F a) noexcept { return _mm512_andnot_ps(mask, a); }
  static F bit_or(F a, F b) noexcept { return _mm512_or_ps(a, b); }

  static I bits(F v) noexcept { return _mm512_castps_si512(v); }
  static F from_bits(I v) noexcept { return _mm512_castsi512_ps(v); }
  static I to_int(F v) noexcept { return _mm512_cvtps_epi32(v); }
  static I int_add(I a, I b) noexcept { return _mm512_add_epi32(a, b); }
  static I int_sub(I a, I b) noexcept { return _mm512_sub_epi32(a, b); }
  static I int_max(I a, I b) noexcept { return _mm512_max_epi32(a, b); }
  static I int_and(I a, I b) noexcept { return _mm512_and_si512(a, b); }
  static I int_or(I a, I b) noexcept { return _mm512_or_si512(a, b); }
  static I int_shift_right(I v, int count) noexcept {
    return _mm512_srl_epi32(v, _mm_cvtsi32_si128(count));
  }
  static uint32_t reduce_max(I v) noexcept {
    return static_cast<uint32_t>(_mm512_reduce_max_epi32(v));
  }
  static uint32_t reduce_add(I v) noexcept {
    return static_cast<uint32_t>(_mm512_reduce_add_epi32(v));
  }

  /// 64 codes to 32 bytes. Each 16-bit lane holds codes even | odd << 8; the odd one moves down.
  static void pack4(const uint8_t* codes, uint8_t* packed) noexcept {
    const __m512i pairs = _mm512_loadu_si512(codes);
    const __m512i joined = _mm512_or_si512(pairs, _mm512_srli_epi16(pairs, 4));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(packed), _mm512_cvtepi16_epi8(joined));
  }
  static void unpack4(const uint8_t* packed, uint8_t* codes) noexcept {
    const __m512i bytes =
        _mm512_cvtepu8_epi16(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(packed)));
    const __m512i spread = _mm512_or_si512(bytes, _mm512_slli_epi16(bytes, 4));
    _mm512_storeu_si512(codes, _mm512_and_si512(spread, _mm512_set1_epi8(0x0f)));
  }
};

}  // namespace

namespace avx512 {
extern constinit const KernelSet kKernels = VectorKernels<Avx512>::set("avx512");
}  // namespace avx512

}  // namespace driftless::quant
