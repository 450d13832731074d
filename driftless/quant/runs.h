// SPDX-License-Identifier: Apache-2.0
// How a granularity cuts a row-major matrix into runs: contiguous values that share a scale.
#pragma once

#include <algorithm>
#include <cstdint>

#include "driftless/quant/spec.h"

namespace driftless::quant {

/// How many runs a row of cols values is cut into, for Group and Block granularity.
inline int64_t groups_per_row(const QuantSpec& spec, int64_t cols) {
  return (cols + spec.group - 1) / spec.group;
}

/// Calls visit(index, first, length) for each run of the matrix, in storage order.
template <class Visit>
void for_each_run(const QuantSpec& spec, int64_t rows, int64_t cols, Visit visit) {
  int64_t index = 0;
  switch (spec.granularity) {
    case Granularity::Unit:
    case Granularity::Tensor:
      visit(index, int64_t{0}, rows * cols);
      return;
    case Granularity::Channel:
    case Granularity::Token:
      for (; index < rows; ++index) visit(index, index * cols, cols);
      return;
    case Granularity::Group:
    case Granularity::Block:
      for (int64_t row = 0; row < rows; ++row) {
        for (int64_t col = 0; col < cols; col += spec.group, ++index) {
          visit(index, row * cols + col, std::min(spec.group, cols - col));
        }
      }
  }
}

/// How many runs that is.
inline int64_t run_count(const QuantSpec& spec, int64_t rows, int64_t cols) {
  int64_t count = 0;
  for_each_run(spec, rows, cols, [&](int64_t, int64_t, int64_t) { ++count; });
  return count;
}

}  // namespace driftless::quant
