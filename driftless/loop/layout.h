// SPDX-License-Identifier: Apache-2.0
// How a board's state lies in memory and how it is cut into parts that threads can share. The cut
// depends on the model only, so results depend neither on the thread count nor on the batch.
//
// A state is [padded_rows, D], row-major. Rows from T on are padding: they start at zero and stay
// zero, because no layer has a bias and the norm of zero is zero.
#pragma once

#include <cstdint>

#include "driftless/model/config.h"
#include "driftless/model/shapes.h"

namespace driftless::loop {

/// Parts of at most this many rows, or exactly this many channels where that divides D: small
/// enough for two threads to share a Sudoku board, large enough for full matmul speed.
inline constexpr int64_t kMaxPartRows = 49;
inline constexpr int64_t kPartChannels = 128;

/// Whole: a board is one part.
enum class Cut : uint8_t { Parts, Whole };

struct Layout {
  explicit Layout(const model::ModelConfig& config, Cut cut = Cut::Parts)
      : rows(model::positions_count(config)),
        width(config.hidden_size),
        row_parts(cut == Cut::Whole ? 1 : (rows + kMaxPartRows - 1) / kMaxPartRows),
        part_rows((rows + row_parts - 1) / row_parts),
        padded_rows(row_parts * part_rows),
        part_channels(cut == Cut::Parts && width % kPartChannels == 0 ? kPartChannels : width),
        channel_parts(width / part_channels) {}

  [[nodiscard]] int64_t state_size() const { return padded_rows * width; }

  int64_t rows;   // T
  int64_t width;  // D
  int64_t row_parts;
  int64_t part_rows;
  int64_t padded_rows;
  int64_t part_channels;
  int64_t channel_parts;
};

}  // namespace driftless::loop
