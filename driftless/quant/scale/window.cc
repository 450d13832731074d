// SPDX-License-Identifier: Apache-2.0
#include "driftless/quant/scale/window.h"

#include <algorithm>
#include <bit>
#include <vector>

#include "driftless/base/error.h"
#include "driftless/formats/block.h"
#include "driftless/formats/e8m0fnu.h"
#include "driftless/formats/float_bits.h"
#include "driftless/quant/runs.h"
#include "driftless/quant/scale/scalar_scale.h"

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

float row_unit(const QuantSpec& spec, std::span<const Scale> scales) noexcept {
  uint32_t largest = 0;
  for (const Scale& scale : scales)
    largest = std::max(largest, formats::magnitude_bits(scale.scale));
  return scalar::row_unit(std::bit_cast<float>(largest), spec.window);
}

void round_to_unit(float unit, std::span<float> values) noexcept {
  for (float& value : values) value = scalar::round_to_unit(unit, value);
}

bool has_byte_rows(const QuantSpec& spec) noexcept {
  constexpr int64_t kFractionBits = 4;  // of a scale over its octave's eighth: 8 up to below 16
  return spec.window != kNoWindow && spec.format->element.bits + kFractionBits + spec.window <= 8;
}

QuantizedMatrix integer_rows(const QuantizedMatrix& matrix) {
  DRIFTLESS_REQUIRE(has_byte_rows(matrix.spec), ErrorCode::Unsupported, "integer rows: '",
                    to_string(matrix.spec), "' does not fit bytes; expected at most four bits and ",
                    "window=0");
  QuantizedMatrix out{
      .spec = parse_quant_spec("int8_full/channel"), .rows = matrix.rows, .cols = matrix.cols};
  std::vector<float> values(static_cast<size_t>(matrix.rows * matrix.cols));
  dequantize(matrix, {values.data(), matrix.rows, matrix.cols});
  const auto blocks = static_cast<size_t>(groups_per_row(matrix.spec, matrix.cols));
  for (int64_t row = 0; row < matrix.rows; ++row) {
    const std::span scales(matrix.scales.floats);
    const float unit =
        row_unit(matrix.spec, scales.subspan(static_cast<size_t>(row) * blocks, blocks));
    out.scales.floats.push_back({.scale = unit});
    for (int64_t i = row * matrix.cols; i < (row + 1) * matrix.cols; ++i) {
      const auto integer = static_cast<int>(values[static_cast<size_t>(i)] / unit);
      out.codes.push_back(static_cast<uint8_t>(integer));
    }
  }
  return out;
}

}  // namespace driftless::quant
