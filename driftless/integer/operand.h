// SPDX-License-Identifier: Apache-2.0
// The two factors of a native product, in the layout of a kernel set, made from quantized matrices.
// Both have the reduction axis along a row; a row's values are integers times one scale:
//
//   mxintN            mantissa * 2^(S - B),  scale 2^(B - fraction bits), B = T - window
//   intN, one scale   code,                  scale as stored
//   intN, scale=      value over the row's unit, which is its scale; where that exceeds a byte,
//                     what mxint8 has with quant::integer_rows (quant/scale/window.h)
//
// with S the exponent of the value's block and T the largest one of its row. The window is the
// quantizer's; without one it is the widest spread among the blocks of a row that are not zero.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "driftless/integer/aligned.h"
#include "driftless/integer/kernels/kernel_set.h"
#include "driftless/quant/quantizer.h"

namespace driftless::integer {

/// Windows beyond this are refused.
inline constexpr int64_t kMaxWindow = 10;

/// The integers of a matrix.
struct IntegerForm {
  int64_t bits = 8;    ///< of a mantissa, sign included
  int64_t window = 0;  ///< the largest left shift of a mantissa

  /// The integers are within -2^magnitude_bits() ... 2^magnitude_bits() - 1.
  [[nodiscard]] int64_t magnitude_bits() const noexcept { return bits - 1 + window; }
  /// Whether shifted mantissas fit a byte, and products can sum all of K at once.
  [[nodiscard]] bool fits_bytes() const noexcept { return magnitude_bits() <= 7; }
};

/// Whether the set has tiles of its own for such rows.
inline bool are_narrow(const IntegerForm& rows, const KernelSet& set) noexcept {
  return set.narrow.max_rows > 0 && rows.bits <= set.narrow_bits;
}

/// Whether a row's bytes are its mantissas shifted; else its shifts stand beside them.
inline bool are_shifted(const IntegerForm& rows, const KernelSet& set) noexcept {
  return !are_narrow(rows, set) && rows.fits_bytes();
}

/// The left factor: rows of bytes, zero (flipped) after the last value up to a whole block.
struct RowMatrix {
  const KernelSet* set = nullptr;
  IntegerForm form{};
  int64_t rows = 0;
  int64_t k = 0;
  int64_t stride = 0;
  int64_t blocks = 0;
  AlignedVector<uint8_t> bytes{};
  AlignedVector<uint8_t> shifts{};  ///< [row][block]
  AlignedVector<float> scales{};    ///< [row]
};

/// The right factor: panels of `set->columns` columns, each a row of the quantized matrix. The last
/// panel is filled up with zero columns. Panels of pairs go with narrow rows only.
struct PanelMatrix {
  const KernelSet* set = nullptr;
  IntegerForm form{};
  int64_t columns = 0;
  int64_t k = 0;
  int64_t steps = 0;
  int64_t blocks = 0;
  int64_t planes = 1;
  int64_t panels = 0;
  bool is_paired = false;
  AlignedVector<int8_t> bytes{};
  AlignedVector<int32_t> starts{};        ///< [panel][column]
  AlignedVector<int32_t> block_starts{};  ///< [panel][block][column]
  AlignedVector<int32_t> shifts{};        ///< [panel][block][plane][column]
  AlignedVector<float> scales{};          ///< [panel][column]
};

/// Where the integers of a matrix stand within their rows.
struct RowShifts {
  IntegerForm form{};
  std::vector<uint8_t> shifts{};  ///< [row][block]
  std::vector<float> scales{};    ///< [row]
};

/// The distance of two rows of that many values, and the steps of such a panel, in a set's layout.
int64_t row_stride(int64_t k, const KernelSet& set) noexcept;
int64_t panel_steps(int64_t k, const KernelSet& set) noexcept;

/// Throws Unsupported for formats that are not integers with one scale a row, mx blocks of 32 or
/// blocks of 32 with scale= whose rows are integers.
void require_supported(const quant::QuantSpec& spec);

/// Throw as require_supported, and BadFile for codes or scales that do not suit the shape or the
/// quantizer's window.
RowMatrix make_rows(const quant::QuantizedMatrix& matrix, const KernelSet& set);
PanelMatrix make_panels(const quant::QuantizedMatrix& matrix, const KernelSet& set);
/// The same for products with such rows alone, in the layout that is fastest with them.
PanelMatrix make_panels(const quant::QuantizedMatrix& matrix, const KernelSet& set,
                        const IntegerForm& rows);
/// Panels of zeros for int8 codes that arise while a model runs, one scale a column.
PanelMatrix make_code_panels(int64_t columns, int64_t k, const KernelSet& set);
/// Fills a column of such panels, K codes. Sums come out as if `row_offset` were added to each of
/// the row's integers, which takes unsigned rows: 128 for bytes of 0 to 255 less 128.
struct CodeColumn {
  const int8_t* codes;
  float scale;
  int32_t row_offset = 0;
};
void put_column(const CodeColumn& column, PanelMatrix& out, int64_t index) noexcept;

RowShifts row_shifts(const quant::QuantizedMatrix& matrix);
IntegerForm integer_form(const quant::QuantizedMatrix& matrix);

}  // namespace driftless::integer
