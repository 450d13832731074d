// SPDX-License-Identifier: Apache-2.0
#include "driftless/quant/scale.h"

#include <algorithm>
#include <cfloat>
#include <cmath>

namespace driftless::quant {

using formats::Element;

Scale symmetric_scale(const Element& element, float absmax) noexcept {
  const float most = std::max(element.max, -element.min);
  float scale = std::max(absmax / most, FLT_MIN);
  while (!std::isfinite(scale * most)) scale = std::nextafter(scale, 0.0f);
  return {.scale = scale};
}

Scale asymmetric_scale(const Element& element, Extent extent) noexcept {
  const double span = static_cast<double>(extent.high) - static_cast<double>(extent.low);
  const float scale = std::max(static_cast<float>(span / element.max), FLT_MIN);
  const float zero = std::nearbyint(-extent.low / scale);
  return {.scale = scale, .zero = std::min(zero, element.max)};
}

Scale scale_of(const Element& element, Extent extent) noexcept {
  if (is_asymmetric(element)) return asymmetric_scale(element, extent);
  return symmetric_scale(element, std::max(extent.high, -extent.low));
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
