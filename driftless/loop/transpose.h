// SPDX-License-Identifier: Apache-2.0
// A matrix of floats with its rows as columns.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace driftless::loop {

struct Matrix {
  const float* data;
  int64_t rows, columns;
};

/// Four rows of four values. Each pair of rows is interleaved, then each pair of pairs.
inline void transpose_four(const float* from, int64_t from_stride, float* to, int64_t to_stride) {
  using Four = float __attribute__((vector_size(16)));
  Four rows[4];
  for (int64_t r = 0; r < 4; ++r) std::memcpy(&rows[r], from + r * from_stride, sizeof(Four));
  const Four low_01 = __builtin_shufflevector(rows[0], rows[1], 0, 4, 1, 5);
  const Four high_01 = __builtin_shufflevector(rows[0], rows[1], 2, 6, 3, 7);
  const Four low_23 = __builtin_shufflevector(rows[2], rows[3], 0, 4, 1, 5);
  const Four high_23 = __builtin_shufflevector(rows[2], rows[3], 2, 6, 3, 7);
  const Four columns[4] = {__builtin_shufflevector(low_01, low_23, 0, 1, 4, 5),
                           __builtin_shufflevector(low_01, low_23, 2, 3, 6, 7),
                           __builtin_shufflevector(high_01, high_23, 0, 1, 4, 5),
                           __builtin_shufflevector(high_01, high_23, 2, 3, 6, 7)};
  for (int64_t c = 0; c < 4; ++c) std::memcpy(to + c * to_stride, &columns[c], sizeof(Four));
}

/// to[c, r] = from[r, c], in tiles that stay in the first-level cache. Strides are between rows.
inline void transpose(const Matrix& from, int64_t from_stride, float* to, int64_t to_stride) {
  constexpr int64_t kTile = 16;
  const int64_t four_rows = from.rows - from.rows % 4;
  const int64_t four_columns = from.columns - from.columns % 4;
  for (int64_t row = 0; row < four_rows; row += kTile)
    for (int64_t column = 0; column < four_columns; column += kTile)
      for (int64_t c = column; c < std::min(column + kTile, four_columns); c += 4)
        for (int64_t r = row; r < std::min(row + kTile, four_rows); r += 4)
          transpose_four(from.data + r * from_stride + c, from_stride, to + c * to_stride + r,
                         to_stride);
  const auto copy = [&](int64_t r, int64_t c) {
    to[c * to_stride + r] = from.data[r * from_stride + c];
  };
  for (int64_t r = 0; r < from.rows; ++r)
    for (int64_t c = r < four_rows ? four_columns : 0; c < from.columns; ++c) copy(r, c);
}

}  // namespace driftless::loop
