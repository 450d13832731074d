// SPDX-License-Identifier: Apache-2.0
#include "driftless/quant/scale/scale.h"

#include <algorithm>
#include <cfloat>
#include <cmath>

#include "driftless/quant/scale/scalar_scale.h"

namespace driftless::quant {

using formats::Element;

Scale symmetric_scale(const Element& element, float absmax) noexcept {
  return scalar::symmetric_scale(element, absmax);
}

Scale asymmetric_scale(const Element& element, Extent extent) noexcept {
  return scalar::asymmetric_scale(element, extent);
}

Scale scale_of(const Element& element, Extent extent) noexcept {
  return scalar::scale_of(element, extent);
}

float stored_scale(const formats::ScaleRule& rule, float scale) noexcept {
  return formats::round_scale(rule, scale);
}

float stored_sign(const formats::ScaleRule& rule, Extent extent) noexcept {
  return formats::scale_sign(rule.format, extent.low, extent.high);
}

uint16_t encode(const Element& element, const Scale& scale, float value) noexcept {
  const float scaled = value / scale.scale;
  if (!is_asymmetric(element)) return element.encode(scaled);
  return element.encode(std::nearbyint(scaled) + scale.zero);
}

float decode(const Element& element, const Scale& scale, uint16_t code) noexcept {
  const float value = (element.decode(code) - scale.zero) * scale.scale;
  // Only the zero point of a span wider than float32 can push a value out.
  return std::clamp(value, -FLT_MAX, FLT_MAX);
}

}  // namespace driftless::quant
