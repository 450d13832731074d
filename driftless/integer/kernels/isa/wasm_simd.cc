// SPDX-License-Identifier: Apache-2.0
// WebAssembly's vectors, whose only product that adds is that of 16-bit pairs. Bytes are widened to
// it. Where mantissas of both factors have 4 bits, as those of mxint4, it multiplies two columns at
// once: a panel's 16-bit values are low + 2^12 * high, of two columns, and so are its sums.
//
//   a 32-bit lane of a step's half:  c0k0 + 2^12 * c4k0 | c0k1 + 2^12 * c4k1
//
// Rows are within -8 to 7 and columns within -7 to 7, so that the sum of a block is 32 * 56 = 1,792
// in magnitude at most, and with 2^11 more the low field is within 0 to 4,095 and takes nothing
// from the high one. Columns of -8 do not fit: -8 * 2^12 - 8 is no 16-bit value.
#include "driftless/integer/kernels/isa/wasm_pairs.inc"

namespace driftless::integer {
namespace {

constexpr int kFieldBits = 12;
static_assert(kBlock * kLargestPaired * 8 < 1 << (kFieldBits - 1));

struct Fields : WasmLanes {
  /// Two vectors of columns for each of sums with two fields.
  static constexpr size_t kVectors = 4;
  static constexpr size_t kFieldVectors = kVectors / 2;
  static constexpr int64_t kFieldColumns = 2 * kLanes;
  static constexpr size_t kMaxRows = 4;
  using Dots = DotKernels<Fields>;
  static constexpr int64_t kHalfStep = Dots::kColumns * kStep / 2;

  template <size_t kRows>
  using Parts = v128_t[kRows][kFieldVectors];
  /// A block of rows as 16-bit values, of which a step takes pairs. Widened rows would not leave
  /// the sums enough registers.
  template <size_t kRows>
  using WideRows = int16_t[kRows][static_cast<size_t>(kBlock)];

  template <size_t kRows>
  [[gnu::always_inline]] static void widen(const TileArgs& args, int64_t block,
                                           WideRows<kRows>& wide) noexcept {
    DRIFTLESS_UNROLL for (size_t r = 0; r < kRows; ++r) {
      const uint8_t* const row =
          args.rows + static_cast<int64_t>(r) * args.row_stride + block * kBlock;
      DRIFTLESS_UNROLL for (int64_t i = 0; i < kBlock; i += 8) {
        wasm_v128_store(wide[r] + i, wasm_i16x8_load8x8(row + i));
      }
    }
  }

  /// Two values of every row, at `pair`, against the half of a step at `panel`.
  template <size_t kRows>
  [[gnu::always_inline]] static void add_pair(const int16_t* pair, const int8_t* panel,
                                              Parts<kRows>& parts) noexcept {
    v128_t columns[kFieldVectors];
    DRIFTLESS_UNROLL for (size_t v = 0; v < kFieldVectors; ++v) {
      columns[v] = wasm_v128_load(panel + v * sizeof(v128_t));
    }
    DRIFTLESS_UNROLL for (size_t r = 0; r < kRows; ++r) {
      const v128_t row = wasm_v128_load32_splat(pair + static_cast<int64_t>(r) * kBlock);
      DRIFTLESS_UNROLL for (size_t v = 0; v < kFieldVectors; ++v) {
        parts[r][v] = wasm_i32x4_add(parts[r][v], wasm_i32x4_dot_i16x8(row, columns[v]));
        settle(parts[r][v]);
      }
    }
  }

  template <size_t kRows>
  [[gnu::always_inline]] static void add_steps(const int16_t* wide, const int8_t*& panel,
                                               int32_t steps, Parts<kRows>& parts) noexcept {
    constexpr int32_t kUnrolled = 2;
    for (; steps >= kUnrolled; steps -= kUnrolled) {
      DRIFTLESS_UNROLL for (int32_t half = 0; half < 2 * kUnrolled; ++half) {
        add_pair<kRows>(wide + 2 * half, panel + half * kHalfStep, parts);
      }
      wide += kUnrolled * kStep;
      panel += 2 * kUnrolled * kHalfStep;
    }
    for (; steps > 0; --steps) {
      add_pair<kRows>(wide, panel, parts);
      add_pair<kRows>(wide + 2, panel + kHalfStep, parts);
      wide += kStep;
      panel += 2 * kHalfStep;
    }
  }

  /// Takes the fields of a block's sums apart, times both factors, and adds them.
  template <size_t kRows>
  [[gnu::always_inline]] static void add_parts(const TileArgs& args, int64_t block,
                                               const Parts<kRows>& parts, v128_t* sums) noexcept {
    const v128_t low_bits = wasm_i32x4_const_splat((1 << kFieldBits) - 1);
    const v128_t middle = wasm_i32x4_const_splat(1 << (kFieldBits - 1));
    const int32_t* const factors = args.shifts + block * Dots::kColumns;
    DRIFTLESS_UNROLL for (size_t r = 0; r < kRows; ++r) {
      const uint8_t shift = args.row_shifts[static_cast<int64_t>(r) * args.blocks + block];
      const v128_t row = wasm_i32x4_splat(int32_t{1} << shift);
      DRIFTLESS_UNROLL for (size_t v = 0; v < kFieldVectors; ++v) {
        const v128_t low = wasm_i32x4_sub(wasm_v128_and(parts[r][v], low_bits), middle);
        const v128_t high = wasm_i32x4_shr(parts[r][v], kFieldBits);
        v128_t* const at = sums + r * kVectors + 2 * v;
        const auto scaled = [&](v128_t part, size_t place) {
          return wasm_i32x4_mul(wasm_i32x4_mul(part, wasm_v128_load(factors + place)), row);
        };
        at[0] = wasm_i32x4_add(at[0], scaled(low, v * kFieldColumns));
        at[1] = wasm_i32x4_add(at[1], scaled(high, v * kFieldColumns + kLanes));
      }
    }
  }

  struct Blocks {
    template <size_t kRows>
    [[gnu::always_inline]] static void add(const TileArgs& args,
                                           Dots::Sums<kRows>& result) noexcept {
      v128_t memory[kRows * kVectors];
      // In memory, which they are added to once a block: registers are for its parts.
      v128_t* sums = memory;
      asm("" : "+r"(sums));
      v128_t zero = set(0);
      settle(zero);  // Else the compiler calls memset.
      DRIFTLESS_UNROLL for (size_t i = 0; i < kRows * kVectors; ++i) sums[i] = zero;
      const int8_t* panel = args.panel;
      auto steps = static_cast<int32_t>(args.steps);
      for (int64_t block = 0; block < args.blocks; ++block) {
        WideRows<kRows> wide;
        widen<kRows>(args, block, wide);
        Parts<kRows> parts;
        DRIFTLESS_UNROLL for (size_t r = 0; r < kRows; ++r) {
          DRIFTLESS_UNROLL for (size_t v = 0; v < kFieldVectors; ++v) {
            parts[r][v] = set(1 << (kFieldBits - 1));
          }
        }
        const int32_t now = steps < kBlockSteps ? steps : static_cast<int32_t>(kBlockSteps);
        // Else the compiler takes values out of registers again that it has stored there.
        const int16_t* pairs = wide[0];
        asm("" : "+r"(pairs));
        add_steps<kRows>(pairs, panel, now, parts);
        add_parts<kRows>(args, block, parts, sums);
        steps -= now;
      }
      DRIFTLESS_UNROLL for (size_t r = 0; r < kRows; ++r) {
        DRIFTLESS_UNROLL for (size_t v = 0; v < kVectors; ++v) {
          result[r][v] = sums[r * kVectors + v];
        }
      }
    }
  };

  /// Steps of bytes, four of each column, to halves of 16-bit values of two columns.
  static void pair(int8_t* steps, int64_t count) noexcept {
    for (int64_t step = 0; step < count; ++step, steps += Dots::kColumns * kStep) {
      int16_t pairs[static_cast<size_t>(Dots::kColumns * kStep / 2)];
      for (int64_t i = 0; i < Dots::kColumns * kStep / 2; ++i) {
        // Half, vector, lane and place in the pair, from the outermost in.
        const int64_t column = i / 8 % 2 * kFieldColumns + i / 2 % 4;
        const int64_t k = i / 16 * 2 + i % 2;
        const int8_t* const low = steps + column * kStep + k;
        pairs[i] = static_cast<int16_t>(low[0] + low[kLanes * kStep] * (1 << kFieldBits));
      }
      __builtin_memcpy(steps, pairs, sizeof(pairs));
    }
  }
};

constexpr KernelSet set_of_tiles() noexcept {
  using Pairs = WasmPairs<0>;
  static_assert(Fields::Dots::kColumns == WasmTiles<Pairs>::kColumns);
  KernelSet set = Pairs::set("wasm_simd");
  set.narrow = tall_tiles<Fields, Fields::Blocks>();
  set.narrow_bits = 4;
  set.pair = Fields::pair;
  return set;
}

}  // namespace

namespace wasm_simd {
extern constinit const KernelSet kKernels = set_of_tiles();
}  // namespace wasm_simd

}  // namespace driftless::integer
