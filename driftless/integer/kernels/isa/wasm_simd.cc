// SPDX-License-Identifier: Apache-2.0
// Four columns a vector: WebAssembly's vectors, whose only product that adds is that of 16-bit
// pairs. Bytes are widened when they are loaded, a panel's once for all rows, and a sum is two
// vectors of partial sums, of the first and the last two values of each step:
//
//   low:  c0k01 c0k23 c1k01 c1k23     high: c2k01 c2k23 c3k01 c3k23
//
// 2 rows x 2 vectors of sums are 8 registers, a step of the panel 4 and a row one, of 16.
#include <wasm_simd128.h>

#include "driftless/integer/kernels/dot_kernels.h"

namespace driftless::integer {
namespace {

struct WasmSimd {
  struct I {
    v128_t low;
    v128_t high;
  };
  static constexpr int kLanes = 4;
  static constexpr size_t kVectors = 2;
  static constexpr size_t kMaxRows = 4;
  static constexpr size_t kMaxBlockRows = 2;
  static constexpr uint8_t kRowFlip = 0;

  static I load(const int8_t* p) noexcept {
    return {wasm_i16x8_load8x8(p), wasm_i16x8_load8x8(p + 8)};
  }
  /// One value a column: the second partial sums are zero.
  static I load(const int32_t* p) noexcept {
    return {wasm_u64x2_load32x2(p), wasm_u64x2_load32x2(p + 2)};
  }
  static void store(int32_t* p, const I& v) noexcept { wasm_v128_store(p, columns(v)); }
  static I set(int32_t value) noexcept {
    const v128_t both = wasm_i64x2_splat(static_cast<uint32_t>(value));
    return {both, both};
  }
  static I broadcast(const uint8_t* p) noexcept {
    const v128_t row = wasm_i16x8_extend_low_i8x16(wasm_v128_load32_splat(p));
    return {row, row};
  }
  [[gnu::always_inline]] static void dot(I& sum, const I& row, const I& columns) noexcept {
    sum.low = wasm_i32x4_add(sum.low, wasm_i32x4_dot_i16x8(row.low, columns.low));
    sum.high = wasm_i32x4_add(sum.high, wasm_i32x4_dot_i16x8(row.low, columns.high));
  }
  static I add(const I& a, const I& b) noexcept {
    return {wasm_i32x4_add(a.low, b.low), wasm_i32x4_add(a.high, b.high)};
  }
  /// There is no shift with a count for each lane: times 2^count, which a float's exponent makes.
  static I shift_left(const I& v, const I& counts) noexcept {
    const v128_t exponents = wasm_i32x4_add(columns(counts), wasm_i32x4_const_splat(127));
    const v128_t factors = wasm_i32x4_trunc_sat_f32x4(wasm_i32x4_shl(exponents, 23));
    const v128_t shifted = wasm_i32x4_mul(columns(v), factors);
    return {wasm_u64x2_extend_low_u32x4(shifted), wasm_u64x2_extend_high_u32x4(shifted)};
  }
  static void store_scaled(float* p, const I& sums, const float* column_scales,
                           float row_scale) noexcept {
    const v128_t scale = wasm_f32x4_mul(wasm_f32x4_splat(row_scale), wasm_v128_load(column_scales));
    wasm_v128_store(p, wasm_f32x4_mul(wasm_f32x4_convert_i32x4(columns(sums)), scale));
  }

 private:
  static v128_t columns(const I& v) noexcept {
    return wasm_i32x4_add(wasm_i32x4_shuffle(v.low, v.high, 0, 2, 4, 6),
                          wasm_i32x4_shuffle(v.low, v.high, 1, 3, 5, 7));
  }
};

}  // namespace

namespace wasm_simd {
extern constinit const KernelSet kKernels = DotKernels<WasmSimd>::set("wasm_simd");
}  // namespace wasm_simd

}  // namespace driftless::integer
