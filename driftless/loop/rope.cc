// SPDX-License-Identifier: Apache-2.0
#include "driftless/loop/rope.h"

#include <cmath>

#include "driftless/model/shapes.h"

namespace driftless::loop {
namespace {

using model::Positions;

int64_t segment_count(Positions positions) {
  return positions == Positions::Rope ? 1 : positions == Positions::Rope2d ? 2 : 0;
}

int64_t position(const model::ModelConfig& config, int64_t row, int64_t segment) {
  if (config.positions == Positions::Rope) return row;
  return segment == 0 ? row / config.board_width : row % config.board_width;
}

}  // namespace

Rope::Rope(const model::ModelConfig& config) : segments_(segment_count(config.positions)) {
  if (segments_ == 0) return;
  half_ = model::head_width(config) / segments_ / 2;
  for (int64_t row = 0; row < model::positions_count(config); ++row)
    for (int64_t segment = 0; segment < segments_; ++segment)
      for (int64_t i = 0; i < half_; ++i) {
        const double frequency =
            std::pow(config.rope_theta, -static_cast<double>(i) / static_cast<double>(half_));
        const double angle = static_cast<double>(position(config, row, segment)) * frequency;
        cos_.push_back(static_cast<float>(std::cos(angle)));
        sin_.push_back(static_cast<float>(std::sin(angle)));
      }
}

void Rope::rotate(float* values, int64_t heads, int64_t row) const {
  const float* const cos = cos_.data() + row * segments_ * half_;
  const float* const sin = sin_.data() + row * segments_ * half_;
  for (int64_t head = 0; head < heads; ++head)
    for (int64_t segment = 0; segment < segments_; ++segment, values += 2 * half_)
      for (int64_t i = 0; i < half_; ++i) {
        const float c = cos[segment * half_ + i];
        const float s = sin[segment * half_ + i];
        const float first = values[i];
        const float second = values[half_ + i];
        values[i] = first * c - second * s;
        values[half_ + i] = second * c + first * s;
      }
}

}  // namespace driftless::loop
