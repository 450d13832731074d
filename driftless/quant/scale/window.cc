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
namespace {

constexpr int64_t kByteBits = 7;  // of a signed byte's magnitude
constexpr int64_t kUnitBits = 3;  // of the octave of a row's largest scale, over its unit, window 0

/// What integer_rows() makes of a matrix.
QuantSpec integer_spec(const QuantSpec& spec) {
  if (integer_window(spec) == 0) return parse_quant_spec("int8_full/channel");
  QuantSpec blocks = parse_quant_spec("mxint8");
  blocks.group = spec.group;
  blocks.window = integer_window(spec);
  return blocks;
}

/// One row of it, from the row's values.
void append_integers(const QuantSpec& spec, std::span<const Scale> scales,
                     std::span<const float> values, QuantizedMatrix& out) {
  const bool has_shifts = out.spec.granularity == Granularity::Block;
  const float unit = row_unit(spec, scales);
  if (!has_shifts) out.scales.floats.push_back({.scale = unit});
  for_each_run(spec, 1, std::ssize(values), [&](int64_t block, int64_t first, int64_t length) {
    const int shift = block_shift(spec, scales[static_cast<size_t>(block)].scale, unit);
    const int exponent = formats::octave_of(unit).exponent + shift;
    for (int64_t i = first; i < first + length; ++i) {
      const float mantissa = values[static_cast<size_t>(i)] / formats::power_of_two(exponent);
      out.codes.push_back(static_cast<uint8_t>(static_cast<int>(mantissa)));
    }
    if (!has_shifts) return;
    const int one = -formats::octave_of(out.spec.format->element.smallest).exponent;
    out.scales.codes.push_back(
        static_cast<uint8_t>(formats::E8m0fnu::code_of_exponent(exponent + one)));
  });
}

}  // namespace

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

bool has_integer_rows(const QuantSpec& spec) noexcept {
  if (spec.window == kNoWindow) return false;
  const bool is_exact = spec.format->element.bits + formats::fraction_bits(spec.scale) <= kByteBits;
  return is_exact || integer_window(spec) == 0;
}

int64_t integer_window(const QuantSpec& spec) noexcept {
  return std::max(spec.format->element.bits + kUnitBits + spec.window - kByteBits, int64_t{0});
}

int block_shift(const QuantSpec& spec, float scale, float unit) noexcept {
  return scalar::block_shift(spec.format->element.bits, scale, unit);
}

QuantizedMatrix integer_rows(const QuantizedMatrix& matrix) {
  const QuantSpec& spec = matrix.spec;
  DRIFTLESS_REQUIRE(has_integer_rows(spec), ErrorCode::Unsupported, "integer rows: '",
                    to_string(spec), "'; expected ", kSuitsIntegers);
  QuantizedMatrix out{.spec = integer_spec(spec), .rows = matrix.rows, .cols = matrix.cols};
  std::vector<float> values(static_cast<size_t>(matrix.rows * matrix.cols));
  dequantize(matrix, {values.data(), matrix.rows, matrix.cols});
  const int64_t blocks = groups_per_row(spec, matrix.cols);
  for (int64_t row = 0; row < matrix.rows; ++row) {
    const std::span scales(matrix.scales.floats.data() + row * blocks, static_cast<size_t>(blocks));
    const std::span row_values(values.data() + row * matrix.cols, static_cast<size_t>(matrix.cols));
    append_integers(spec, scales, row_values, out);
  }
  return out;
}

}  // namespace driftless::quant
