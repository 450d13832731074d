// SPDX-License-Identifier: Apache-2.0
// Rotary positions. Values i and i + w/2 of a segment of w values turn together by
// position * theta^(-2i/w). rope: a head is one segment and the position is the row of the state,
// prefix rows included. rope2d: a head is two segments, turned by the board's row and column.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "driftless/model/config.h"

namespace driftless::loop {

class Rope {
 public:
  /// Does nothing when the configuration has other positions.
  explicit Rope(const model::ModelConfig& config);

  /// Turns `heads` neighboring heads of the state's row `row` in place.
  void rotate(float* values, int64_t heads, int64_t row) const;

  [[nodiscard]] int64_t segments() const noexcept { return segments_; }
  [[nodiscard]] int64_t half() const noexcept { return half_; }
  /// [T, segments, half]; empty where there is nothing to do.
  [[nodiscard]] std::span<const float> cosines() const noexcept { return cos_; }
  [[nodiscard]] std::span<const float> sines() const noexcept { return sin_; }

 private:
  int64_t segments_;  // of a head; 0 where there is nothing to do
  int64_t half_ = 0;  // half a segment
  std::vector<float> cos_, sin_;
};

}  // namespace driftless::loop
