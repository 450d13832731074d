// SPDX-License-Identifier: Apache-2.0
#include "driftless/export/c_layers.h"

#include <algorithm>
#include <array>
#include <span>

#include "driftless/base/error.h"
#include "driftless/export/c_text.h"
#include "driftless/formats/block.h"
#include "driftless/formats/float_bits.h"
#include "driftless/quant/packed.h"

namespace driftless::exporter {
namespace {

int fraction_bits(const quant::QuantSpec& spec) {
  return -formats::octave_of(spec.format->element.smallest).exponent;
}

bool is_block(const quant::QuantSpec& spec) {
  return spec.granularity == quant::Granularity::Block;
}

/// A block's codes, zeros after its last one. Codes of 4 bits lie so that a word's low halves are
/// neighbors: byte i has code i below and code 16 + i above.
void append_block(std::span<const uint8_t> codes, int bits, std::vector<uint8_t>& out) {
  std::array<uint8_t, kBlock> block{};
  std::copy(codes.begin(), codes.end(), block.begin());
  const size_t first = out.size();
  out.resize(first + static_cast<size_t>(4 * bits));
  const std::span<uint8_t> bytes(out.data() + first, static_cast<size_t>(4 * bits));
  if (bits != 4) return quant::pack_bits(block, bits, bytes);
  for (size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<uint8_t>(block[i] | block[bytes.size() + i] << 4);
}

std::vector<uint8_t> blocked_codes(const quant::QuantizedMatrix& matrix) {
  std::vector<uint8_t> out;
  const int bits = matrix.spec.format->element.bits;
  const auto mask = static_cast<uint8_t>((1 << bits) - 1);
  std::vector<uint8_t> row(static_cast<size_t>(matrix.cols));
  for (int64_t i = 0; i < matrix.rows; ++i) {
    std::transform(matrix.codes.begin() + i * matrix.cols,
                   matrix.codes.begin() + (i + 1) * matrix.cols, row.begin(),
                   [mask](uint8_t code) { return static_cast<uint8_t>(code & mask); });
    for (int64_t at = 0; at < matrix.cols; at += kBlock) {
      const int64_t count = std::min(kBlock, matrix.cols - at);
      append_block({row.data() + at, static_cast<size_t>(count)}, bits, out);
    }
  }
  return out;
}

std::string number(int64_t value) { return std::to_string(value); }

std::string acts_initializer(const CLinear& layer) {
  const formats::Element& element = layer.acts.format->element;
  const auto thresholds = formats::exponent_thresholds(layer.acts.rule, element);
  const int fraction = is_block(layer.acts) ? fraction_bits(layer.acts) : 0;
  const float unit = formats::power_of_two(fraction);
  const integer::IntegerForm form = layer.acts_form();
  return "{" + literal(element.min * unit) + ", " + literal(element.max * unit) + ", " +
         number(thresholds.raise_from) + "u, " + number(thresholds.lower_below) + "u, " +
         number(element.max_exponent) + ", " + number(is_block(layer.acts) ? 1 : 0) + ", " +
         number(form.bits) + ", " + number(form.window) + ", " + number(fraction) + ", " +
         number(form.fits_bytes() ? 1 : 0) + "}";
}

}  // namespace

integer::IntegerForm CLinear::acts_form() const {
  return {acts.format->element.bits, is_block(acts) ? acts.window : 0};
}

CLinear c_linear(const store::PackedModel& model, const std::string& name) {
  const quant::LayerPlan* const plan = model.plan.find(name);
  DRIFTLESS_REQUIRE(plan != nullptr, ErrorCode::Unsupported, "layer '", name,
                    "': its weights are floats; quantize it, for instance --weights mxint4");
  DRIFTLESS_REQUIRE(!plan->weights.has_scale_codes() && !plan->acts.has_scale_codes(),
                    ErrorCode::Unsupported, "layer '", name,
                    "': blocks with scale= are not written as C; expected mx or integer formats");
  DRIFTLESS_REQUIRE(!plan->delta, ErrorCode::Unsupported, "layer '", name,
                    "': delta takes more memory than small devices have; quantize without it");
  DRIFTLESS_REQUIRE(plan->acts.rule != formats::ExponentRule::Mse, ErrorCode::Unsupported,
                    "layer '", name, "': activations as '", to_string(plan->acts),
                    "'; exported code has every exponent rule but mse");
  const quant::QuantizedMatrix matrix = quant::unpack(model.weights.at(name).matrix);
  CLinear layer{.name = name,
                .outputs = matrix.rows,
                .inputs = matrix.cols,
                .form = integer::integer_form(matrix),
                .codes = blocked_codes(matrix),
                .exponents = {},
                .scales = {},
                .fraction = 0,
                .acts = plan->acts};
  if (is_block(matrix.spec)) {
    layer.exponents.assign(matrix.scales.codes.begin(), matrix.scales.codes.end());
    layer.fraction = fraction_bits(matrix.spec);
  } else {
    for (const quant::Scale& scale : matrix.scales.floats) layer.scales.push_back(scale.scale);
  }
  return layer;
}

std::string initializer(const CLinear& layer, const std::string& prefix) {
  const bool has_exponents = !layer.exponents.empty();
  return "{{" + prefix + "_codes, " +
         (has_exponents ? prefix + "_exponents, 0" : "0, " + prefix + "_scales") + ", " +
         number(layer.outputs) + ", " + number(layer.inputs) + ", " + number(layer.form.bits) +
         ", " + number(layer.form.window) + ", " + number(layer.fraction) + ", " +
         number(layer.scales.size() > 1 ? 1 : 0) + ", " + number(layer.form.fits_bytes() ? 1 : 0) +
         "},\n     " + acts_initializer(layer) + "}";
}

std::string definitions(const CLinear& layer, const std::string& prefix) {
  const std::string text = "/* " + layer.name + " */\n" + array(prefix + "_codes", layer.codes);
  if (!layer.exponents.empty()) return text + array(prefix + "_exponents", layer.exponents);
  return text + array(prefix + "_scales", layer.scales);
}

}  // namespace driftless::exporter
