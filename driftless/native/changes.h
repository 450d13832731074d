// SPDX-License-Identifier: Apache-2.0
// Products of what inputs have changed by: with x' the sum of all changes that were multiplied so
// far, the next one is quantize(x - x'), and the sum of the products is that of x', whose errors
// are those of the last change alone. docs/numerics.md, "Changes", defines it.
#pragma once

#include "driftless/integer/operand.h"
#include "driftless/loop/kernels/epilogues.h"
#include "driftless/quant/mat_view.h"

namespace driftless::native {

/// Where the sums of rows are: those of a row's blocks of 32 lie apart.
struct RowSums {
  float* first;
  int64_t row_stride;
  int64_t block_stride;
};

/// Adds the values of the first rows to sums.
void add_values(const integer::RowMatrix& rows, int64_t count, const RowSums& sums,
                const loop::EpilogueSet& epilogues);

}  // namespace driftless::native
