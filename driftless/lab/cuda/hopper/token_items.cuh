// SPDX-License-Identifier: Apache-2.0
// How the token mixer's passes share their work out: an item is 64 columns of one board, which a
// warpgroup takes chunk by chunk of 64 inner rows.
#pragma once

#include <cstdint>

#include "driftless/lab/cuda/hopper/async.cuh"
#include "driftless/lab/cuda/hopper/mixers.h"

namespace driftless::lab::cuda {

constexpr int kChunk = kTileColumns;

struct TokenItems {
  int count;
  int columns;  ///< items of a board
  int chunks;
  int inner;
  int width;
  float inverse_positions;
};

inline TokenItems token_items(const MixerShape& shape) {
  const StateShape& s = shape.state;
  const int64_t columns = (s.width + kTileColumns - 1) / kTileColumns;
  return {static_cast<int>(s.batch * columns),
          static_cast<int>(columns),
          static_cast<int>(shape.inner / kChunk),
          static_cast<int>(shape.inner),
          static_cast<int>(s.width),
          1.0f / static_cast<float>(s.positions)};
}

/// A warpgroup's, where the first of its block has item `first`. The last ones are done twice, with
/// the same result.
__device__ inline int item_of(const TokenItems& items, int first, int group) {
  return min(first + group, items.count - 1);
}

/// Where an item lies.
__device__ inline int board_of(const TokenItems& items, int item) { return item / items.columns; }
__device__ inline int column_of(const TokenItems& items, int item) {
  return item % items.columns * kTileColumns;
}

}  // namespace driftless::lab::cuda
