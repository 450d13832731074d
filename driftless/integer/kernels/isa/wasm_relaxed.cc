// SPDX-License-Identifier: Apache-2.0
// WebAssembly's relaxed vectors: four products of bytes, added to a 32-bit lane. Engines may take
// that product in different ways, and all of them agree while its second operand is within 0 to
// 127: a pair of products is then at most 2 * 128 * 127 = 32,512 in magnitude, which no engine
// saturates to 16 bits, and the operand's top bit, which some take for a sign, is clear.
//
// Rows are that operand, where their mantissas m have at most 7 bits: -64 to 63. Their bytes are
// m + 128 (row_flip), and less 64 they are m + 64, within 0 to 127; zeros that pad a row become 64.
// Sums start at -64 times the sum of a column's bytes: half of what the panel has for the flip,
// -128 times a sum of at most 32 bytes, which is even and far from the ends of 32 bits.
//
// Panels are the other operand, any signed bytes. mxint4 with a window of 4 has 8 bits once it is
// shifted, so that rows stay mantissas, and a block's sum is shifted by the row's count before it
// is added: 8 products, a shift and an addition for 32 values of 4 columns. Rows of 8 bits (int8,
// mxint8) go by 16-bit pairs as in wasm_simd.
#include "driftless/integer/kernels/isa/wasm_pairs.inc"

namespace driftless::integer {
namespace {

constexpr uint8_t kFlip = 0x80;

struct Relaxed : WasmLanes {
  using Row = v128_t;
  static constexpr size_t kVectors = 4;
  static constexpr int64_t kPasses = 1;
  static constexpr size_t kMaxRows = 2;

  static I load(const int8_t* p) noexcept { return wasm_v128_load(p); }
  /// What sums start at.
  static I load(const int32_t* p) noexcept { return wasm_i32x4_shr(wasm_v128_load(p), 1); }
  static Row load_row(const uint8_t* p) noexcept { return seven_bits(wasm_v128_load(p)); }
  template <int kStepOfRow>
  static v128_t pick(Row row) noexcept {
    return wasm_i32x4_shuffle(row, row, kStepOfRow, kStepOfRow, kStepOfRow, kStepOfRow);
  }
  static v128_t broadcast(const uint8_t* p) noexcept {
    return seven_bits(wasm_v128_load32_splat(p));
  }
  [[gnu::always_inline]] static void dot(I& sum, v128_t row, I columns) noexcept {
    sum = __builtin_wasm_relaxed_dot_i8x16_i7x16_add_s_i32x4(columns, row, sum);
    settle(sum);
  }
  static I add(I a, I b) noexcept { return wasm_i32x4_add(a, b); }
  static I shift_left(I v, uint32_t count) noexcept { return wasm_i32x4_shl(v, count); }

 private:
  /// m + 128 to m + 64.
  static v128_t seven_bits(v128_t bytes) noexcept {
    return wasm_i8x16_sub(bytes, wasm_u8x16_const_splat(kFlip - 64));
  }
};

constexpr KernelSet set_of_tiles() noexcept {
  using Kinds = WasmTiles<Relaxed>;
  static_assert(Kinds::kColumns == WasmTiles<WasmPairs<kFlip>>::kColumns);
  KernelSet set = WasmPairs<kFlip>::set("wasm_relaxed");
  set.narrow = tall_tiles<Relaxed, Kinds::PerBlock<Kinds::ByRow>>();
  set.narrow_bits = 7;
  return set;
}

}  // namespace

namespace wasm_relaxed {
extern constinit const KernelSet kKernels = set_of_tiles();
}  // namespace wasm_relaxed

}  // namespace driftless::integer
