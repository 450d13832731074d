// SPDX-License-Identifier: Apache-2.0
// Quantizes activations into the left factor of a product, in place of what quant::Quantizer and
// make_rows give in two passes and with memory of their own: the same bytes, shifts and scales.
// Rows are written one by one, wherever a fused loop has them complete.
#pragma once

#include <span>

#include "driftless/integer/operand.h"
#include "driftless/quant/mat_view.h"
#include "driftless/quant/spec.h"

namespace driftless::integer {

class RowQuantizer {
 public:
  /// Throws Unsupported for what make_rows refuses, for mx formats without a window, and for other
  /// integers than dynamic ones per token.
  RowQuantizer(const quant::QuantSpec& spec, const KernelSet& set);

  [[nodiscard]] const IntegerForm& form() const noexcept { return form_; }

  /// A factor of that shape for quantize() to fill.
  [[nodiscard]] RowMatrix make(int64_t rows, int64_t k) const;

  /// Fills row `row` of a factor made by make(). Allocates nothing. Throws Numeric when a value is
  /// NaN or infinite.
  void quantize(std::span<const float> values, RowMatrix& out, int64_t row) const;

  /// Fills rows 0 to values.rows - 1. Throws as quantize().
  void quantize_rows(quant::ConstMat values, RowMatrix& out) const;

  /// The same in pieces, for mx formats: encode_tile for each block of 32 columns of some rows, in
  /// any order, and then finish_row, which applies the window. `values` is [rows, 32]; what pads a
  /// row's last block must be zero. Returns false when a value is not finite.
  [[nodiscard]] bool encode_tile(const float* values, RowMatrix& out, int64_t first_row,
                                 int64_t rows, int64_t block) const noexcept;
  void finish_row(RowMatrix& out, int64_t row) const noexcept;

  /// For one scale a row: fills rows 0 to rows - 1 from tiles of 32 columns, [block][rows][32].
  /// What pads the last block must be zero. Throws as quantize().
  void quantize_tiles(const float* tiles, int64_t rows, RowMatrix& out) const;

 private:
  /// Rows to write, `row_stride` apart, their blocks `block_stride` apart.
  struct Values {
    const float* x;
    int64_t row_stride;
    int64_t block_stride;
    int64_t rows;
  };
  /// The codes and scale codes of a row's blocks. Returns as quant's encode_blocks.
  int64_t encode_row(const float* values, int64_t k, uint8_t* codes,
                     uint8_t* scales) const noexcept;
  [[nodiscard]] bool encode_by_set(const RowsToEncode& rows) const noexcept;
  void quantize_blocks(std::span<const float> values, RowMatrix& out, int64_t row) const;
  void quantize_scaled(const Values& values, RowMatrix& out, int64_t first) const;

  quant::QuantSpec spec_;
  IntegerForm form_;
  const KernelSet* set_;
  formats::BlockScaling block_scaling_;
  bool has_encoders_;  // whether the set encodes this format itself
};

}  // namespace driftless::integer
