// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

namespace driftless::loop {

struct Matrix {
  const float* data;
  int64_t rows, columns;
};

/// to[c, r] = from[r, c], in tiles that stay in the first-level cache. Strides are between rows.
inline void transpose(const Matrix& from, int64_t from_stride, float* to, int64_t to_stride) {
  constexpr int64_t kTile = 16;
  for (int64_t row = 0; row < from.rows; row += kTile)
    for (int64_t column = 0; column < from.columns; column += kTile)
      for (int64_t c = column; c < std::min(column + kTile, from.columns); ++c)
        for (int64_t r = row; r < std::min(row + kTile, from.rows); ++r)
          to[c * to_stride + r] = from.data[r * from_stride + c];
}

}  // namespace driftless::loop
