// SPDX-License-Identifier: Apache-2.0
// Four lanes: WebAssembly's vectors.
#include <wasm_simd128.h>

#include "driftless/quant/kernels/vector_kernels.h"

namespace driftless::quant {
namespace {

struct WasmSimd {
  using F = v128_t;
  using I = v128_t;
  static constexpr int64_t kLanes = 4;
  static constexpr int64_t kPackedCodes = 16;

  static F load(const float* p) noexcept { return wasm_v128_load(p); }
  static void store(float* p, F v) noexcept { wasm_v128_store(p, v); }
  static void store_bytes(uint8_t* p, I v) noexcept {
    const v128_t words = wasm_u16x8_narrow_i32x4(v, v);
    wasm_v128_store32_lane(p, wasm_u8x16_narrow_i16x8(words, words), 0);
  }
  static void store_bytes(uint8_t* p, I a, I b, I c, I d) noexcept {
    wasm_v128_store(
        p, wasm_u8x16_narrow_i16x8(wasm_u16x8_narrow_i32x4(a, b), wasm_u16x8_narrow_i32x4(c, d)));
  }
  static F set(float value) noexcept { return wasm_f32x4_splat(value); }
  static I set_int(uint32_t value) noexcept { return wasm_u32x4_splat(value); }

  static F add(F a, F b) noexcept { return wasm_f32x4_add(a, b); }
  static F sub(F a, F b) noexcept { return wasm_f32x4_sub(a, b); }
  static F mul(F a, F b) noexcept { return wasm_f32x4_mul(a, b); }
  static F div(F a, F b) noexcept { return wasm_f32x4_div(a, b); }
  /// The pseudo-minimum of (b, a) is a < b ? a : b, one instruction on every processor.
  static F min(F a, F b) noexcept { return wasm_f32x4_pmin(b, a); }
  static F max(F a, F b) noexcept { return wasm_f32x4_pmax(b, a); }
  static F bit_and(F a, F b) noexcept { return wasm_v128_and(a, b); }
  static F bit_andnot(F mask, F a) noexcept { return wasm_v128_andnot(a, mask); }
  static F bit_or(F a, F b) noexcept { return wasm_v128_or(a, b); }

  static I bits(F v) noexcept { return v; }
  static F from_bits(I v) noexcept { return v; }
  static I to_int(F v) noexcept { return wasm_i32x4_trunc_sat_f32x4(wasm_f32x4_nearest(v)); }
  static I int_add(I a, I b) noexcept { return wasm_i32x4_add(a, b); }
  static I int_sub(I a, I b) noexcept { return wasm_i32x4_sub(a, b); }
  static I int_max(I a, I b) noexcept { return wasm_i32x4_max(a, b); }
  static I int_and(I a, I b) noexcept { return wasm_v128_and(a, b); }
  static I int_or(I a, I b) noexcept { return wasm_v128_or(a, b); }
  static I int_shift_right(I v, int count) noexcept {
    return wasm_u32x4_shr(v, static_cast<uint32_t>(count));
  }
  static uint32_t reduce_max(I v) noexcept {
    v = wasm_i32x4_max(v, wasm_i32x4_shuffle(v, v, 2, 3, 0, 1));
    v = wasm_i32x4_max(v, wasm_i32x4_shuffle(v, v, 1, 0, 3, 2));
    return wasm_u32x4_extract_lane(v, 0);
  }
  static uint32_t reduce_add(I v) noexcept {
    v = wasm_i32x4_add(v, wasm_i32x4_shuffle(v, v, 2, 3, 0, 1));
    v = wasm_i32x4_add(v, wasm_i32x4_shuffle(v, v, 1, 0, 3, 2));
    return wasm_u32x4_extract_lane(v, 0);
  }

  /// 16 codes to 8 bytes. Each 16-bit lane holds codes even | odd << 8; the odd one moves down.
  static void pack4(const uint8_t* codes, uint8_t* packed) noexcept {
    const v128_t pairs = wasm_v128_load(codes);
    const v128_t joined = wasm_v128_and(wasm_v128_or(pairs, wasm_u16x8_shr(pairs, 4)),
                                        wasm_u16x8_const_splat(0x00ff));
    wasm_v128_store64_lane(packed, wasm_u8x16_narrow_i16x8(joined, joined), 0);
  }
  static void unpack4(const uint8_t* packed, uint8_t* codes) noexcept {
    const v128_t bytes = wasm_u16x8_load8x8(packed);
    const v128_t spread = wasm_v128_or(bytes, wasm_i16x8_shl(bytes, 4));
    wasm_v128_store(codes, wasm_v128_and(spread, wasm_u8x16_const_splat(0x0f)));
  }
};

}  // namespace

namespace wasm_simd {
extern constinit const KernelSet kKernels = VectorKernels<WasmSimd>::set("wasm_simd");
}  // namespace wasm_simd

}  // namespace driftless::quant
