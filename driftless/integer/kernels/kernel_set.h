// SPDX-License-Identifier: Apache-2.0
// The inner loops of the native products, once per instruction set. A tile is a few rows of the
// left matrix times one panel, a fixed number of columns (rows of the right matrix). The sums of a
// tile are the same integers in every set; docs/numerics.md, "Native products", defines them.
//
// Rows:   bytes along the reduction axis, each XORed with `row_flip`; zero after the last value.
//         Flipping 0x80 adds 128, for instructions that multiply unsigned by signed bytes; the sums
//         then begin at minus 128 times the panel's column sum.
// Panels: four values of each column in turn, a step, so that a 32-bit lane belongs to a column:
//
//   step 0: c0k0 c0k1 c0k2 c0k3 | c1k0 ... c1k3 | ... | cNk3    step 1: c0k4 ...
//
//         A set with `has_digits` takes signed digits of at most 4 bits and 2^shift per block and
//         column instead of whole bytes; the values of an 8-bit matrix are two planes of digits,
//         high one first, each a block's steps long.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "driftless/integer/kernels/encoders.h"

namespace driftless::integer {

inline constexpr int64_t kStep = 4;
inline constexpr int64_t kBlock = 32;
inline constexpr int64_t kBlockSteps = kBlock / kStep;
/// Rows that no set's tile exceeds; columns that every set's panel divides.
inline constexpr int64_t kMostTileRows = 96;
inline constexpr int64_t kMostColumns = 32;
/// The largest magnitude in a panel of pairs.
inline constexpr int32_t kLargestPaired = 7;

struct TileArgs {
  const uint8_t* rows;        ///< row r begins at rows + r * row_stride
  const uint8_t* row_shifts;  ///< per-block tiles: `blocks` left shifts a row
  const float* row_scales;
  const int8_t* panel;
  const int32_t* starts;  ///< what sums begin at: [columns], or [block][columns] in per-block tiles
  const int32_t* shifts;  ///< [block][plane][columns], for digits and per-block tiles
  const float* column_scales;
  int64_t row_stride;
  int64_t steps;
  int64_t blocks;
  int64_t planes;
  void* out;  ///< int32_t or float; row r begins at element r * out_stride
  int64_t out_stride;
};

/// Computes 1 to max_rows rows of a tile. Requires a TileUse.
using Tile = void (*)(const TileArgs& args, int64_t rows) noexcept;

struct Tiles {
  int64_t max_rows;
  Tile sums;      ///< int32_t
  Tile products;  ///< float(sum) * (row scale * column scale)
};

/// How a panel states 2^shift: as the count, the factor, or the factor in both halves of 32 bits.
enum class ShiftForm : uint8_t { Count, Factor, PairedFactor };

struct KernelSet {
  std::string_view name;
  int64_t columns;
  uint8_t row_flip;
  bool has_digits;
  ShiftForm shift_form;
  Tiles whole;      ///< one sum over all of K; row shifts are in the bytes
  Tiles per_block;  ///< sums of 32, shifted left by row_shifts and shifts, then added
  /// For rows whose mantissas have at most narrow_bits, sign included, where a set is faster on
  /// them; max_rows is 0 where it is not. As per_block, for panels whose shifts are in the bytes,
  /// so that row_shifts alone count, or for panels of pairs, whose shifts are factors.
  Tiles narrow{};
  int64_t narrow_bits = 0;
  /// Turns steps of a panel whose magnitudes are at most kLargestPaired into the pairs that
  /// `narrow` takes, in place; null where it takes panels as they are.
  void (*pair)(int8_t* steps, int64_t count) noexcept = nullptr;
  /// Repeats the multiply-adds of a tile's step on registers alone, which no product can outrun.
  /// Returns how many multiply-adds that was.
  int64_t (*peak)(int64_t rounds) noexcept;
  const Encoders* encoders = nullptr;  ///< null: quant's kernels, block by block
  /// Panels are zero up to a multiple of this many values along K, and rows lie a multiple of it
  /// apart.
  int64_t depth = kStep;
  /// Prepare the calling thread for tiles and take that back; null where nothing is to do.
  void (*begin)() noexcept = nullptr;
  void (*end)() noexcept = nullptr;
};

/// Tiles may be computed on the thread of this object as long as it lives. Expensive beside one
/// tile (200 clocks with AMX), so that loops over tiles hold one. Not to be nested.
class TileUse {
 public:
  explicit TileUse(const KernelSet& set) noexcept : set_(set) {
    if (set_.begin != nullptr) set_.begin();
  }
  ~TileUse() {
    if (set_.end != nullptr) set_.end();
  }
  TileUse(const TileUse&) = delete;
  TileUse& operator=(const TileUse&) = delete;

 private:
  const KernelSet& set_;
};

/// The sets this build has and this processor can run, best first; the scalar one is always last.
std::span<const KernelSet* const> available_kernels() noexcept;

/// The set in use: the best one that DRIFTLESS_ISA allows (base/isa.h). Throws as isa_limit().
const KernelSet& kernels();

extern const KernelSet kScalarKernels;

}  // namespace driftless::integer
