// SPDX-License-Identifier: Apache-2.0
// Exact products of quantized matrices: out[r][c] = sum over k of left[r][k] * right[c][k]. Every
// sum is one integer, the same on every instruction set and for any number of threads; floats are
// float(sum) * (row scale * column scale). See docs/numerics.md, "Native products".
#pragma once

#include <cstdint>

#include "driftless/base/thread_pool.h"
#include "driftless/integer/operand.h"
#include "driftless/quant/mat_view.h"

namespace driftless::integer {

/// The longest reduction whose sums fit 32 bits: each is at most k * 2^(magnitude bits of both).
int64_t largest_k(const IntegerForm& left, const IntegerForm& right) noexcept;

/// Throw InvalidArgument when the factors are of different lengths or kernel sets or `out` has
/// another shape, and Unsupported when k exceeds largest_k.
void multiply(const RowMatrix& left, const PanelMatrix& right, quant::Mat out, ThreadPool& pool);
/// On the calling thread.
void multiply(const RowMatrix& left, const PanelMatrix& right, quant::Mat out);
/// The same for the first rows only.
void multiply_rows(const RowMatrix& left, int64_t rows, const PanelMatrix& right, quant::Mat out);
void multiply_exact(const RowMatrix& left, const PanelMatrix& right, quant::MatView<int32_t> out,
                    ThreadPool& pool);
/// On the calling thread.
void multiply_exact(const RowMatrix& left, const PanelMatrix& right, quant::MatView<int32_t> out);

/// Rows in tiles of at most max_rows, as even as can be: no tile is a short rest.
struct RowTiles {
  int64_t rows;
  int64_t count;

  RowTiles(int64_t all_rows, int64_t max_rows) noexcept
      : rows(all_rows), count((all_rows + max_rows - 1) / max_rows) {}
  /// The first row of tile `index`, 0 to count.
  [[nodiscard]] int64_t first(int64_t index) const noexcept { return rows * index / count; }
};

/// The kernels that multiply the two: whole sums where both factors' integers fit bytes.
const Tiles& tiles_for(const RowMatrix& left, const PanelMatrix& right) noexcept;

/// The arguments of rows from `row` on against a panel; `out` is for the caller to set. For
/// products of its own making: a fused loop computes a tile into its cache and works on it there.
TileArgs tile_args(const RowMatrix& left, const PanelMatrix& right, int64_t row,
                   int64_t panel) noexcept;

}  // namespace driftless::integer
