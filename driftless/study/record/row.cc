// SPDX-License-Identifier: Apache-2.0
#include "driftless/study/record/row.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "driftless/base/error.h"
#include "driftless/model/schedule.h"
#include "driftless/model/shapes.h"
#include "driftless/reason/plan/linear_layers.h"

namespace driftless::study {
namespace {

constexpr double kFloatBits = 32;

}  // namespace

bool needs_calibration(const Row& row) {
  if (row.plan) return false;
  return row.scheme.acts.source == quant::Source::Static || row.scheme.smooth.has_value();
}

Row resolve(const Row& row, const model::ModelConfig& config) {
  Row resolved = row;
  const Row defaults;
  // The scales of weights are constants either way (see quant::resolve).
  resolved.scheme.weights.source = quant::Source::Dynamic;
  resolved.scheme.weights.fold = {};
  if (row.h_cycles == 0) resolved.h_cycles = config.h_cycles;
  if (row.l_cycles == 0) resolved.l_cycles = config.l_cycles;
  if (row.steps == 0) resolved.steps = config.halt_max_steps;
  if (!needs_calibration(row)) {
    resolved.calibration_boards = defaults.calibration_boards;
    resolved.calibration_seed = defaults.calibration_seed;
  }
  if (row.rollouts == 0) {
    resolved.noise = defaults.noise;
    resolved.noise_seed = defaults.noise_seed;
  }
  return resolved;
}

model::ModelConfig vary(const model::ModelConfig& config, const Row& row) {
  model::ModelConfig varied = config;
  const bool is_by_cycle = model::architecture(config).tying == model::Tying::ByCycle;
  DRIFTLESS_REQUIRE(!is_by_cycle || row.l_cycles == config.l_cycles, ErrorCode::BadConfig,
                    "l_cycles; got ", row.l_cycles, ", expected ", config.l_cycles,
                    ": each inner cycle of an untied model has its own weights");
  varied.h_cycles = row.h_cycles;
  varied.l_cycles = row.l_cycles;
  model::validate(varied, "row of a study");
  return varied;
}

nlohmann::ordered_json to_json(const Row& row) {
  const quant::Scheme& scheme = row.scheme;
  nlohmann::ordered_json json = {
      {"weights", quant::to_string(scheme.weights)},
      {"acts", quant::to_string(scheme.acts)},
      {"coverage", quant::to_string(scheme.coverage)},
      {"bias", quant::to_string(scheme.bias)},
      {"scales", quant::to_string(scheme.sharing)},
      {"smooth", nullptr},
      {"hadamard", scheme.hadamard},
      {"h_cycles", row.h_cycles},
      {"l_cycles", row.l_cycles},
      {"steps", row.steps},
      {"calibration", nullptr},
      {"rollouts", nullptr},
      {"layer_boards", row.layer_boards},
      {"coherence", row.coherence},
      {"dynamics", row.dynamics},
  };
  if (scheme.smooth) json["smooth"] = *scheme.smooth;
  if (scheme.delta) json["delta"] = true;
  if (scheme.attention != quant::AttentionPrecision::Float)
    json["attention"] = quant::to_string(scheme.attention);
  if (needs_calibration(row))
    json["calibration"] = {{"boards", row.calibration_boards}, {"seed", row.calibration_seed}};
  if (row.rollouts > 0)
    json["rollouts"] = {{"count", row.rollouts}, {"noise", row.noise}, {"seed", row.noise_seed}};
  return json;
}

double bits_per_value(const quant::QuantSpec& spec, int64_t inputs) {
  using quant::Granularity;
  if (spec.is_none()) return kFloatBits;
  const double bits = spec.format->element.bits;
  switch (spec.granularity) {
    case Granularity::Block:
      return bits + 8.0 / static_cast<double>(spec.group);
    case Granularity::Group:
      return bits + formats::scale_bits(spec.scale) / static_cast<double>(spec.group);
    case Granularity::Channel:
    case Granularity::Token:
      return bits + kFloatBits / static_cast<double>(inputs);
    case Granularity::Unit:
    case Granularity::Tensor:
      break;
  }
  return bits;
}

PlanBits bits_of(const quant::QuantPlan& plan, std::span<const quant::LinearLayer> layers) {
  PlanBits bits;
  double weights = 0;
  double inputs = 0;
  for (const quant::LinearLayer& layer : layers) {
    const quant::LayerPlan* const planned = plan.find(layer.name);
    const quant::LayerPlan kept = planned != nullptr ? *planned : quant::LayerPlan{};
    const auto weight_count = static_cast<double>(layer.outputs * layer.inputs);
    const auto input_count = static_cast<double>(layer.inputs);
    bits.weights += weight_count * bits_per_value(kept.weights, layer.inputs);
    bits.acts += input_count * bits_per_value(kept.acts, layer.inputs);
    weights += weight_count;
    inputs += input_count;
  }
  if (weights == 0) return {.weights = kFloatBits, .acts = kFloatBits};
  return {.weights = bits.weights / weights, .acts = bits.acts / inputs};
}

std::vector<int64_t> input_values(const model::ModelConfig& config) {
  const std::vector<model::Network> networks = model::networks(config);
  std::vector<int64_t> calls(networks.size());
  for (const model::NetworkCall& call : model::schedule(config))
    ++calls[static_cast<size_t>(call.network)];
  std::vector<int64_t> values;
  for (const quant::LinearLayer& layer : reason::linear_layers(config)) {
    int64_t rows = 0;
    if (!layer.is_in_block)  // The answer head reads every cell, the halting head one row.
      rows = layer.has_bias ? 1 : config.seq_len;
    const bool mixes_tokens = layer.name.find(".mlp_t.") != std::string::npos;
    for (size_t i = 0; i < networks.size(); ++i)
      if (layer.is_in_block && layer.name.starts_with(networks[i].name + "."))
        rows += calls[i] * (mixes_tokens ? config.hidden_size : model::positions_count(config));
    values.push_back(rows * layer.inputs);
  }
  return values;
}

int64_t multiply_adds(const model::ModelConfig& config, int64_t steps) {
  const std::vector<quant::LinearLayer> layers = reason::linear_layers(config);
  const std::vector<int64_t> values = input_values(config);
  int64_t sum = 0;
  for (size_t i = 0; i < layers.size(); ++i) sum += layers[i].outputs * values[i];
  return sum * steps;
}

}  // namespace driftless::study
