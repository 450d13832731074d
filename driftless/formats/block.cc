// SPDX-License-Identifier: Apache-2.0
#include "driftless/formats/block.h"

#include <algorithm>
#include <cmath>

namespace driftless::formats {
namespace {

float largest_magnitude(std::span<const float> block) noexcept {
  float largest = 0;
  for (const float value : block) largest = std::max(largest, std::abs(value));
  return largest;
}

/// Sum over the block of (error / 2^octave)^2, each rounded to kSquaredErrorBits fraction bits.
uint32_t squared_error(const Element& element, std::span<const float> block, int exponent,
                       int octave) noexcept {
  const float unit = power_of_two(exponent - octave + kSquaredErrorBits / 2);
  uint32_t sum = 0;
  for (const float value : block) {
    const float scaled = value * power_of_two(-exponent);
    const float error = (scaled - element.decode(element.encode(scaled))) * unit;
    sum += static_cast<uint32_t>(std::lrint(error * error));
  }
  return sum;
}

/// Of the floor exponent and its neighbors, the first of least error in the order S, S + 1, S - 1.
int least_error_exponent(const Element& element, std::span<const float> block, int floor_exponent,
                         int octave) noexcept {
  int best = limit_exponent(element, floor_exponent);
  uint32_t best_error = squared_error(element, block, best, octave);
  for (const int neighbor : {floor_exponent + 1, floor_exponent - 1}) {
    const int exponent = limit_exponent(element, neighbor);
    const uint32_t error = squared_error(element, block, exponent, octave);
    if (error < best_error) {
      best = exponent;
      best_error = error;
    }
  }
  return best;
}

}  // namespace

BlockScaling block_scaling(const Element& element, ExponentRule rule) noexcept {
  return {element, rule, exponent_thresholds(rule, element)};
}

int shared_exponent(const BlockScaling& scaling, std::span<const float> block) noexcept {
  const float largest = largest_magnitude(block);
  if (largest == 0) return E8m0fnu::kMinExponent;
  const int exponent = threshold_exponent(scaling, largest);
  if (scaling.rule == ExponentRule::Mse) {
    return least_error_exponent(scaling.element, block, exponent, octave_of(largest).exponent);
  }
  return limit_exponent(scaling.element, exponent);
}

uint32_t scaled_squared_error(const Element& element, std::span<const float> run, float scale,
                              float unit) noexcept {
  const float error_scale = scale * unit;
  uint32_t sum = 0;
  for (const float value : run) {
    const float scaled = value / scale;
    const float error = (scaled - element.decode(element.encode(scaled))) * error_scale;
    sum += static_cast<uint32_t>(std::lrint(error * error));
  }
  return sum;
}

uint16_t encode_scaled(const Element& element, float value, int exponent) noexcept {
  return element.encode(value * power_of_two(-exponent));
}

float decode_scaled(const Element& element, uint16_t code, int exponent) noexcept {
  return element.decode(code) * power_of_two(exponent);
}

}  // namespace driftless::formats
