// SPDX-License-Identifier: Apache-2.0
// The scalar truth behind scale.h as constexpr functions, which CUDA compiles too.
#pragma once

#include <cfloat>
#include <cstdint>

#include "driftless/formats/float_bits.h"
#include "driftless/quant/scale/scale.h"

namespace driftless::quant::scalar {

/// To nearest, ties to even. Requires a magnitude below 2^22.
constexpr float nearest_integer(float value) noexcept {
  constexpr float kUnits = 0x1.8p23f;
  return (value + kUnits) - kUnits;
}

constexpr Scale symmetric_scale(const formats::Element& element, float absmax) noexcept {
  const float most = formats::larger(element.max, -element.min);
  float scale = formats::larger(absmax / most, FLT_MIN);
  while (formats::magnitude_bits(scale * most) >= formats::kFloatInfinityBits) {
    scale = formats::next_below(scale);
  }
  return {.scale = scale};
}

constexpr Scale asymmetric_scale(const formats::Element& element, Extent extent) noexcept {
  const double span = static_cast<double>(extent.high) - static_cast<double>(extent.low);
  const float scale = formats::larger(static_cast<float>(span / element.max), FLT_MIN);
  // The quotient is at most one step above the largest code.
  return {.scale = scale,
          .zero = formats::smaller(nearest_integer(-extent.low / scale), element.max)};
}

constexpr Scale scale_of(const formats::Element& element, Extent extent) noexcept {
  if (is_asymmetric(element)) return scalar::asymmetric_scale(element, extent);
  return scalar::symmetric_scale(element, formats::larger(extent.high, -extent.low));
}

/// The unit of a row with a window whose largest block scale, stored with fractions, has that
/// magnitude (window.h).
constexpr float row_unit(float largest, int64_t window) noexcept {
  return formats::power_of_two(formats::octave_of(largest).exponent - 3 - static_cast<int>(window));
}

/// The shift of a block's bytes in a row with such a unit: a code times the scale lies below
/// 2^`bits` octaves of the scale, and a byte's magnitude has 7 bits.
constexpr int block_shift(int bits, float scale, float unit) noexcept {
  const int octaves = formats::octave_of(scale).exponent - formats::octave_of(unit).exponent;
  return formats::larger(octaves + bits - 7, 0);
}

/// The nearest multiple of a unit of which the value holds fewer than 2^22, ties to even.
constexpr float round_to_unit(float unit, float value) noexcept {
  const float constant = 0x1.8p23f * unit;
  return (value + constant) - constant;
}

}  // namespace driftless::quant::scalar
