// SPDX-License-Identifier: Apache-2.0
// Float scales of element formats, and the scalar truth of quantizing with one:
//
//   symmetric   q = encode(x / s),             value = decode(q) * s
//   asymmetric  q = encode(rne(x / s) + zero), value = (decode(q) - zero) * s   (unsigned formats)
//
// Division is by the scale itself, not by its reciprocal. Scales are normal numbers (at least
// 2^-126) for which no decoded value overflows.
#pragma once

#include <cstdint>

#include "driftless/formats/element.h"
#include "driftless/formats/float_bits.h"
#include "driftless/formats/scale_format.h"

namespace driftless::quant {

struct Scale {
  float scale = 1;
  float zero = 0;  ///< the code of 0.0, for asymmetric formats
  bool operator==(const Scale&) const = default;
};

/// The least and the largest of some values, zero included.
struct Extent {
  float low = 0;
  float high = 0;
};

/// Where a scaled value is not clipped: from the lowest to the largest value, half a step more on
/// either side. Codes of asymmetric formats count from the zero point.
constexpr Extent unclipped(const formats::Element& element) noexcept {
  if (element.spacing != formats::Spacing::Grid) return {element.min, element.max};
  const int top =
      element.max_exponent > element.min_exponent ? element.max_exponent : element.min_exponent;
  const float half = formats::power_of_two(top - element.mantissa_bits - 1);
  return {element.min - half, element.max + half};
}

/// True for formats whose codes start at zero, which need a zero point.
constexpr bool is_asymmetric(const formats::Element& element) noexcept { return element.min == 0; }

/// The scale that maps `absmax` to the largest code: absmax / max for a symmetric range; for the
/// full integer range absmax / -min, which clips +absmax by one step and is finer for the rest.
Scale symmetric_scale(const formats::Element& element, float absmax) noexcept;

/// (high - low) / max with the zero point rne(-low / scale) limited to the codes.
Scale asymmetric_scale(const formats::Element& element, Extent extent) noexcept;

/// The one that suits the element. The extent's larger magnitude is the absmax of the symmetric
/// one.
Scale scale_of(const formats::Element& element, Extent extent) noexcept;

/// formats::round_scale, compiled once: an inline copy in a kernel file would be for that file's
/// instruction set.
float stored_scale(const formats::ScaleRule& rule, float scale) noexcept;

/// formats::scale_sign, likewise.
float stored_sign(const formats::ScaleRule& rule, Extent extent) noexcept;

/// Whether encoding the value does not clip it.
constexpr bool is_inside(Extent unclipped, const Scale& scale, float value) noexcept {
  const float code = value / scale.scale + scale.zero;
  return unclipped.low <= code && code <= unclipped.high;
}

uint16_t encode(const formats::Element& element, const Scale& scale, float value) noexcept;
float decode(const formats::Element& element, const Scale& scale, uint16_t code) noexcept;

}  // namespace driftless::quant
