// SPDX-License-Identifier: Apache-2.0
// Cases of quantizers: every format under every rule that it has, on values with ties, zeros,
// subnormals and outliers.
#include <bit>
#include <vector>

#include "driftless/base/error.h"
#include "driftless/formats/exponent_rule.h"
#include "driftless/formats/scale_format.h"
#include "driftless/formats/table.h"
#include "driftless/vectors/hex.h"
#include "driftless/vectors/kinds.h"
#include "driftless/vectors/matrix_text.h"

namespace driftless::vectors {
namespace {

using formats::Format;
using formats::Scaling;

void add_block_specs(const Format& format, std::vector<std::string>& specs) {
  const std::string name(format.name);
  if (format.scaling == Scaling::TwoLevel) return specs.push_back(name);
  for (const formats::ExponentRuleName& rule : formats::exponent_rules())
    specs.push_back(name + ",rule=" + std::string(rule.name));
  specs.push_back(name + ",window=4");
  specs.push_back(name + ",rule=mse,block=16");
}

void add_element_specs(const Format& format, std::vector<std::string>& specs) {
  const std::string name(format.name);
  for (const char* const granularity : {"/tensor", "/channel", "/group32", "/channel,calib=mse"})
    specs.push_back(name + granularity);
  if (quant::is_asymmetric(format.element)) return;
  for (const formats::ScaleFormatName& scale : formats::scale_formats()) {
    if (!formats::suits(scale.value, format.element)) continue;
    for (const char* const rule : {"round", "rceil", "mse"})
      specs.push_back(name + "/block32,scale=" + std::string(scale.name) + ",rule=" + rule);
  }
}

/// All that turn a matrix into codes of at most 8 bits.
std::vector<std::string> all_specs() {
  std::vector<std::string> specs;
  for (const Format& format : formats::formats()) {
    if (format.scaling != Scaling::None)
      add_block_specs(format, specs);
    else if (format.element.bits <= 8 && format.element.min <= 0)
      add_element_specs(format, specs);
  }
  return specs;
}

/// Values of a few octaves around one of the matrix; some zeros, far smaller ones and coarse ones,
/// which lie halfway between codes.
std::vector<float> sample_values(int64_t count, Rng& rng) {
  const uint64_t middle = 40 + rng.below(170);  // of the exponent field
  std::vector<float> values;
  for (int64_t i = 0; i < count; ++i) {
    const uint64_t kind = rng.below(16);
    uint64_t exponent = middle + rng.below(6);
    auto fraction = static_cast<uint32_t>(rng.below(1u << 23));
    if (kind < 4) fraction &= 0x7c0000u;
    if (kind == 4) exponent -= rng.below(middle);
    const auto sign = static_cast<uint32_t>(rng.below(2));
    const uint32_t bits = sign << 31 | static_cast<uint32_t>(exponent) << 23 | fraction;
    values.push_back(kind == 5 ? 0.0f : std::bit_cast<float>(bits));
  }
  return values;
}

void make_quantize(const Amount& amount, const Engine&, Rng& rng, const FieldSink& sink) {
  for (const std::string& spec : all_specs())
    for (int64_t i = 0; i < amount.cases; ++i) {
      const auto rows = static_cast<int64_t>(1 + rng.below(2));
      const auto cols = static_cast<int64_t>(1 + rng.below(70));
      sink(spec + " " + std::to_string(rows) + "x" + std::to_string(cols) + " " +
           hex_of_floats(sample_values(rows * cols, rng)));
    }
}

std::string answer_quantize(Fields fields, const Engine& engine) {
  const std::vector<int64_t> sizes = parse_sizes(fields[1], 2);
  const std::vector<float> values = floats_of_hex(fields[2], sizes[0] * sizes[1]);
  quant::Quantizer quantizer(quant::parse_quant_spec(fields[0]));
  quantizer.use_kernels(*engine.quantizers);
  const quant::QuantizedMatrix matrix = quantizer.quantize({values.data(), sizes[0], sizes[1]});
  return codes_text(matrix) + " " + scales_text(matrix);
}

}  // namespace

const Kind kQuantize = {"quantize", 3, make_quantize, answer_quantize};

}  // namespace driftless::vectors
