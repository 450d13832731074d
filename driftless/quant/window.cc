// SPDX-License-Identifier: Apache-2.0
#include "driftless/quant/window.h"

#include <algorithm>

#include "driftless/formats/block.h"
#include "driftless/formats/e8m0fnu.h"

namespace driftless::quant {

uint8_t window_floor(const QuantSpec& spec, std::span<const uint8_t> scales) noexcept {
  if (spec.window == kNoWindow || scales.empty()) return 0;
  const int64_t top = *std::max_element(scales.begin(), scales.end());
  return static_cast<uint8_t>(std::max(top - spec.window, int64_t{0}));
}

void limit_to_window(const QuantSpec& spec, std::span<uint8_t> codes,
                     std::span<uint8_t> scales) noexcept {
  const formats::Element& element = spec.format->element;
  const uint8_t floor = window_floor(spec, scales);
  const auto group = static_cast<size_t>(spec.group);
  const int raised = formats::E8m0fnu::exponent_of_code(floor);
  for (size_t block = 0; block < scales.size(); ++block) {
    if (scales[block] >= floor) continue;
    const int exponent = formats::E8m0fnu::exponent_of_code(scales[block]);
    const size_t first = block * group;
    for (uint8_t& code : codes.subspan(first, std::min(group, codes.size() - first))) {
      const float value = formats::decode_scaled(element, code, exponent);
      code = static_cast<uint8_t>(formats::encode_scaled(element, value, raised));
    }
    scales[block] = floor;
  }
}

}  // namespace driftless::quant
