// SPDX-License-Identifier: Apache-2.0
// How a board's state lies in memory and how it is cut into parts that threads can share. The cut
// depends on the model only, so results depend neither on the thread count nor on the batch.
//
// A state is [padded_rows, D], row-major. Rows from T on are padding: they start at zero and stay
// zero, because no layer has a bias and the norm of zero is zero.
#pragma once

#include <algorithm>
#include <cstdint>

#include "driftless/model/config.h"
#include "driftless/model/shapes.h"

namespace driftless::loop {

/// Parts of at most this many rows, or exactly this many channels where that divides D: small
/// enough for two threads to share a Sudoku board, large enough for full matmul speed.
inline constexpr int64_t kMaxPartRows = 49;
inline constexpr int64_t kPartChannels = 128;
/// Below these a part costs more than it spares.
inline constexpr int64_t kLeastPartRows = 12;
inline constexpr int64_t kLeastPartChannels = 32;

/// Whole: a board is one part.
enum class Cut : uint8_t { Parts, Whole };

struct Layout {
  explicit Layout(const model::ModelConfig& config, Cut cut = Cut::Parts)
      : Layout(config, {.rows = cut == Cut::Whole ? model::positions_count(config) : kMaxPartRows,
                        .channels = cut == Cut::Whole ? config.hidden_size : kPartChannels}) {}

  /// For engines whose results do not depend on the cut: parts for that many threads, where there
  /// are enough rows and channels for it.
  static Layout for_threads(const model::ModelConfig& config, int64_t threads) {
    const int64_t rows = (model::positions_count(config) + threads - 1) / threads;
    int64_t channels = kPartChannels;
    while (channels > kLeastPartChannels && config.hidden_size / channels < threads) channels /= 2;
    return {config, {.rows = std::clamp(rows, kLeastPartRows, kMaxPartRows), .channels = channels}};
  }

  [[nodiscard]] int64_t state_size() const { return padded_rows * width; }

  int64_t rows;   // T
  int64_t width;  // D
  int64_t row_parts;
  int64_t part_rows;
  int64_t padded_rows;
  int64_t part_channels;
  int64_t channel_parts;

 private:
  /// The most rows of a part, and its channels where they divide D.
  struct Parts {
    int64_t rows, channels;
  };
  Layout(const model::ModelConfig& config, Parts parts)
      : rows(model::positions_count(config)),
        width(config.hidden_size),
        row_parts((rows + parts.rows - 1) / parts.rows),
        part_rows((rows + row_parts - 1) / row_parts),
        padded_rows(row_parts * part_rows),
        part_channels(width % parts.channels == 0 ? parts.channels : width),
        channel_parts(width / part_channels) {}
};

}  // namespace driftless::loop
