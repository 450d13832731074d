// SPDX-License-Identifier: Apache-2.0
// Four lanes: NEON, which every aarch64 processor has.
#include <arm_neon.h>

#include "driftless/quant/kernels/vector_kernels.h"

namespace driftless::quant {
namespace {

struct Neon {
  using F = float32x4_t;
  using I = int32x4_t;
  static constexpr int64_t kLanes = 4;
  static constexpr int64_t kPackedCodes = 16;

  static F load(const float* p) noexcept { return vld1q_f32(p); }
  static void store(float* p, F v) noexcept { vst1q_f32(p, v); }
  static void store_bytes(uint8_t* p, I v) noexcept {
    const uint16x4_t words = vmovn_u32(vreinterpretq_u32_s32(v));
    const uint8x8_t bytes = vmovn_u16(vcombine_u16(words, words));
    vst1_lane_u32(reinterpret_cast<uint32_t*>(p), vreinterpret_u32_u8(bytes), 0);
  }
  static F set(float value) noexcept { return vdupq_n_f32(value); }
  static I set_int(uint32_t value) noexcept { return vreinterpretq_s32_u32(vdupq_n_u32(value)); }

  static F add(F a, F b) noexcept { return vaddq_f32(a, b); }
  static F sub(F a, F b) noexcept { return vsubq_f32(a, b); }
  static F mul(F a, F b) noexcept { return vmulq_f32(a, b); }
  static F div(F a, F b) noexcept { return vdivq_f32(a, b); }
  static F min(F a, F b) noexcept { return vminq_f32(a, b); }
  static F max(F a, F b) noexcept { return vmaxq_f32(a, b); }
  static F bit_and(F a, F b) noexcept { return from_bits(vandq_s32(bits(a), bits(b))); }
  static F bit_andnot(F mask, F a) noexcept { return from_bits(vbicq_s32(bits(a), bits(mask))); }
  static F bit_or(F a, F b) noexcept { return from_bits(vorrq_s32(bits(a), bits(b))); }

  static I bits(F v) noexcept { return vreinterpretq_s32_f32(v); }
  static F from_bits(I v) noexcept { return vreinterpretq_f32_s32(v); }
  static I to_int(F v) noexcept { return vcvtnq_s32_f32(v); }
  static I int_add(I a, I b) noexcept { return vaddq_s32(a, b); }
  static I int_sub(I a, I b) noexcept { return vsubq_s32(a, b); }
  static I int_max(I a, I b) noexcept { return vmaxq_s32(a, b); }
  static I int_and(I a, I b) noexcept { return vandq_s32(a, b); }
  static I int_or(I a, I b) noexcept { return vorrq_s32(a, b); }
  static I int_shift_right(I v, int count) noexcept {
    return vreinterpretq_s32_u32(vshlq_u32(vreinterpretq_u32_s32(v), vdupq_n_s32(-count)));
  }
  static uint32_t reduce_max(I v) noexcept { return static_cast<uint32_t>(vmaxvq_s32(v)); }
  static uint32_t reduce_add(I v) noexcept { return static_cast<uint32_t>(vaddvq_s32(v)); }

  /// 16 codes to 8 bytes: the even codes and the odd ones, loaded apart.
  static void pack4(const uint8_t* codes, uint8_t* packed) noexcept {
    const uint8x8x2_t pairs = vld2_u8(codes);
    vst1_u8(packed, vorr_u8(pairs.val[0], vshl_n_u8(pairs.val[1], 4)));
  }
  static void unpack4(const uint8_t* packed, uint8_t* codes) noexcept {
    const uint8x8_t bytes = vld1_u8(packed);
    vst2_u8(codes, {{vand_u8(bytes, vdup_n_u8(0x0f)), vshr_n_u8(bytes, 4)}});
  }
};

}  // namespace

namespace neon {
extern constinit const KernelSet kKernels = VectorKernels<Neon>::set("neon");
}  // namespace neon

}  // namespace driftless::quant
