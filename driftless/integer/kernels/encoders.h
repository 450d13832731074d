// SPDX-License-Identifier: Apache-2.0
// Quantizing activations a tile at a time, where an instruction set does that faster than quant's
// kernels block by block: the same codes, scale codes and bytes to the bit.
//
// Rows:    blocks run along the lanes, as the left factor has them.
// Columns: blocks run across the vectors, one column a lane, as a panel has them. No lane looks at
//          another, and four vectors of codes become one step of the panel.
#pragma once

#include <cstdint>

#include "driftless/formats/block.h"
#include "driftless/formats/scale_format.h"

namespace driftless::integer {

/// Block `b` of row `r` is x[r * x_stride + 32 b] to + 31, its codes the same places of `codes`,
/// its scale code scales[r * scale_stride + b].
struct RowsToEncode {
  const float* x;
  int64_t x_stride;
  int64_t rows;
  int64_t blocks;
  uint8_t* codes;
  int64_t code_stride;
  uint8_t* scales;
  int64_t scale_stride;
};

/// Shifts each block's codes, one a byte, to its row's window: byte = mantissa * 2^shift, flipped.
/// `shifts` counts for each block, none negative. Shifted mantissas fit a byte.
struct CodesToShift {
  uint8_t* codes;
  int64_t blocks;
  const uint8_t* shifts;
  int bits;
  uint8_t flip;
};

/// One block of a panel: up to 32 rows of x, `columns` of the set wide. Codes go to the block's
/// steps, rows that are missing from the last step are zero.
struct ColumnsToEncode {
  const float* x;
  int64_t x_stride;
  int64_t rows;
  int8_t* steps;
  uint8_t* scales;  ///< [columns]
};

/// A panel of codes: moves each column's blocks to its window; mantissas of blocks below it are
/// rounded, to nearest, ties to even. Shifts go into the bytes, or to `shifts` where those do not
/// hold them. Sums of a column's bytes (of each block's bytes) times -flip go to `starts`, the
/// scales of its integers to `column_scales`.
struct PanelToShift {
  int8_t* steps;
  int64_t step_count;
  const uint8_t* scales;  ///< [block][columns]
  int64_t blocks;
  int64_t window;
  int bits;
  int fraction_bits;
  uint8_t flip;
  int32_t* starts;  ///< [columns]; [block][columns] with shifts
  float* column_scales;
  int32_t* shifts = nullptr;  ///< [block][columns], or null
};

/// Rows of integers with one scale each: block `b` of row `r` is x[r * x_stride + b * block_stride]
/// to + 31, its bytes the places from 32 b on of row `r`. What pads the last block becomes zero.
struct RowsToScale {
  const float* x;
  int64_t x_stride;
  int64_t block_stride;
  int64_t rows;
  int64_t k;
  uint8_t* bytes;
  int64_t byte_stride;
  float* scales;
  uint8_t flip;
};

/// A panel of integers with one scale a column: k rows of x, `columns` of the set wide.
struct ColumnsToScale {
  const float* x;
  int64_t x_stride;
  int64_t k;
  int8_t* steps;
  uint8_t flip;
  int32_t* starts;
  float* column_scales;
};

/// Blocks with scale=, whose codes are signed bytes here and whose scale codes have 8 bits. A row's
/// integers are its values over its unit, bytes times 2^shift of their block
/// (quant/scale/window.h).
struct BlockScales {
  formats::Element element;
  formats::ScaleRule rule;
};

/// Turns each block's codes into its integers: byte = code * factor, to nearest, ties to even,
/// flipped. No integer exceeds a byte. Codes have four bits.
struct CodesToMultiply {
  uint8_t* codes;
  int64_t blocks;
  const float* factors;  ///< [block]
  uint8_t flip;
};

/// The same for a panel, by its scale codes. Sums of a column's bytes (of each block's bytes, where
/// shifts stand beside them) times -flip go to `starts`, the units to `column_scales`.
struct PanelToMultiply {
  int8_t* steps;
  int64_t step_count;
  const uint8_t* scales;  ///< [block][columns]
  int64_t blocks;
  int64_t window;
  uint8_t flip;
  int32_t* starts;  ///< [columns]; [block][columns] with shifts
  float* column_scales;
  int32_t* shifts = nullptr;  ///< [block][columns], or null where no block has any
};

struct Encoders {
  /// Whether the two encode functions know an element with its rule. The others always apply.
  bool (*knows)(const formats::BlockScaling& scaling) noexcept;
  /// Return false when a value is not finite.
  bool (*encode_rows)(const formats::BlockScaling& scaling, const RowsToEncode& args) noexcept;
  bool (*encode_columns)(const formats::BlockScaling& scaling,
                         const ColumnsToEncode& args) noexcept;
  void (*shift_codes)(const CodesToShift& args) noexcept;
  /// Returns false, with nothing changed, when a scale is no normal number.
  bool (*shift_panel)(const PanelToShift& args) noexcept;
  /// For symmetric integer formats of at most 8 bits. Return false when a value is not finite.
  bool (*scale_rows)(const formats::Element& element, const RowsToScale& args) noexcept;
  bool (*scale_columns)(const formats::Element& element, const ColumnsToScale& args) noexcept;

  /// Whether the four below know such blocks.
  bool (*knows_scales)(const BlockScales& scales) noexcept;
  /// Return false when a value is not finite.
  bool (*encode_scaled_rows)(const BlockScales& scales, const RowsToEncode& args) noexcept;
  bool (*encode_scaled_columns)(const BlockScales& scales, const ColumnsToEncode& args) noexcept;
  void (*multiply_codes)(const CodesToMultiply& args) noexcept;
  void (*multiply_panel)(const BlockScales& scales, const PanelToMultiply& args) noexcept;
};

}  // namespace driftless::integer
