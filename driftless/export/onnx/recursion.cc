// SPDX-License-Identifier: Apache-2.0
#include "driftless/export/onnx/recursion.h"

#include <cmath>

#include "driftless/base/error.h"
#include "driftless/model/schedule.h"
#include "driftless/model/shapes.h"

namespace driftless::exporter {
namespace {

using model::ModelConfig;

std::vector<float> scaled(std::vector<float> values, float scale) {
  for (float& value : values) value *= scale;
  return values;
}

/// The rows before the board: the puzzle's row, then zeros, cut into rows of D.
Value add_prefix(const OnnxBuilder& to, float scale) {
  const ModelConfig& config = to.model.config;
  OnnxGraph& graph = to.graph;
  const Value puzzle = graph.input("puzzle", {OnnxType::Int32, {kBatch}});
  const store::Tensor& table = to.tensor("puzzle_emb.weights");
  const Value rows = graph.node("Gather", {to.constants.floats("puzzle_emb.weights", table.shape,
                                                               scaled(table.values, scale)),
                                           puzzle});
  const int64_t zeros = config.puzzle_emb_len * config.hidden_size - config.puzzle_emb_ndim;
  const Value padded =
      graph.node("Pad", {rows, to.constants.ints("puzzle.zeros", Dims{0, 0, 0, zeros})});
  return graph.node(
      "Reshape", {padded, to.constants.ints("puzzle.rows",
                                            Dims{-1, config.puzzle_emb_len, config.hidden_size})});
}

/// state <- (1 - lambda) * before + lambda * after + noise_scale * N(0, I).
Value add_damp(const OnnxBuilder& to, const Value& before, const Value& after) {
  OnnxGraph& graph = to.graph;
  const auto lambda = static_cast<float>(to.model.config.lambda);
  const Value kept = graph.node("Mul", {before, to.constants.scalar("damp.kept", 1.0f - lambda)});
  const Value taken = graph.node("Mul", {after, to.constants.scalar("damp.lambda", lambda)});
  Value sum = graph.node("Add", {kept, taken});
  const auto scale = static_cast<float>(to.model.config.noise_scale);
  if (scale == 0) return sum;
  return graph.node("Add",
                    {sum, graph.node("RandomNormalLike", {sum}, {attribute("scale", scale)})});
}

/// state <- after + deviation of the channel * N(0, I).
Value add_perturb(const OnnxBuilder& to, const Value& after) {
  const store::Tensor& log_scale = to.tensor(std::string(model::kLogScaleName));
  std::vector<float> deviations = log_scale.values;
  for (float& value : deviations)
    value = std::exp(value) * static_cast<float>(to.model.config.noise_scale);
  const Value deviation = to.constants.floats("transition.deviation", log_scale.shape, deviations);
  OnnxGraph& graph = to.graph;
  const Value noise = graph.node("RandomNormalLike", {after});
  return graph.node("Add", {after, graph.node("Mul", {noise, deviation})});
}

Value add_after(const OnnxBuilder& to, model::After after, const Value& before,
                const Value& called) {
  switch (after) {
    case model::After::Nothing:
      return called;
    case model::After::Damp:
      return add_damp(to, before, called);
    case model::After::Perturb:
      return add_perturb(to, called);
    default:  // a new one, until it has nodes
      fail(ErrorCode::Unsupported, "export onnx: has no nodes for what follows a call of ",
           model::to_string(to.model.config.arch), " models");
  }
}

/// The states where a board goes on, and what the model starts from where `is_new` says so. Models
/// whose start is drawn get it as their first states.
OnnxStates add_states(const OnnxBuilder& to) {
  const ModelConfig& config = to.model.config;
  OnnxGraph& graph = to.graph;
  OnnxStates states = {graph.input("z_h", state_type(config)),
                       graph.input("z_l", state_type(config))};
  if (model::architecture(config).start == model::StartStates::Drawn) return states;
  const Value is_new = graph.node("Reshape", {graph.input("is_new", {OnnxType::Bool, {kBatch}}),
                                              to.constants.ints("each_board", Dims{-1, 1, 1})});
  const auto start = [&](const char* name, const Value& state) {
    const store::Tensor& init = to.tensor(name);
    return graph.node("Where", {is_new, to.constants.floats(name, init.shape, init.values), state});
  };
  return {start("H_init", states.h), start("L_init", states.l)};
}

}  // namespace

ValueType state_type(const ModelConfig& config) {
  return {OnnxType::Float, {kBatch, model::positions_count(config), config.hidden_size}};
}

ValueType logits_type(const ModelConfig& config) {
  return {OnnxType::Float, {kBatch, config.seq_len, config.vocab_size}};
}

Value add_embedding(const OnnxBuilder& to) {
  const ModelConfig& config = to.model.config;
  OnnxGraph& graph = to.graph;
  graph.enter("embedding");
  const bool has_positions = config.positions == model::Positions::Learned;
  const float scale = std::sqrt(static_cast<float>(config.hidden_size));
  const float table_scale = has_positions ? 1 : scale;  // where it is the last factor
  const Value tokens = graph.input("tokens", {OnnxType::Int32, {kBatch, config.seq_len}});
  const store::Tensor& table = to.tensor("embed_tokens.embedding_weight");
  Value rows =
      graph.node("Gather", {to.constants.floats("embed_tokens.embedding_weight", table.shape,
                                                scaled(table.values, table_scale)),
                            tokens});
  if (config.puzzle_emb_len > 0)
    rows =
        graph.node("Concat", {add_prefix(to, table_scale), rows}, {attribute("axis", int64_t{1})});
  if (!has_positions) return rows;
  const store::Tensor& positions = to.tensor("embed_pos.embedding_weight");
  const Value sum = graph.node(
      "Add",
      {rows, to.constants.floats("embed_pos.embedding_weight", positions.shape, positions.values)});
  return graph.node("Mul", {sum, to.constants.scalar("embedding.scale", scale * 0.707106781f)});
}

OnnxStates add_step(const OnnxBuilder& to, const Value& embedded, OnnxStates states) {
  const std::vector<model::Network> networks = model::networks(to.model.config);
  OnnxGraph& graph = to.graph;
  int64_t index = 0;
  for (const model::NetworkCall& call : model::schedule(to.model.config)) {
    const std::string name = "call" + std::to_string(index++);
    graph.enter(name);
    const Value injection = call.injection == model::Injection::AnswerAndInput
                                ? graph.node("Add", {states.h, embedded})
                                : states.l;
    Value& state = call.updates == model::State::H ? states.h : states.l;
    Value value = graph.node("Add", {state, injection});
    const model::Network& network = networks[static_cast<size_t>(call.network)];
    for (int64_t layer = 0; layer < network.num_layers; ++layer) {
      const std::string prefix = model::layer_name(network, layer);
      graph.enter(std::string(name).append("/").append(prefix));
      value = add_block(to, value, prefix);
    }
    graph.enter(name);
    state = add_after(to, call.after, state, value);
  }
  return states;
}

OnnxReadout add_heads(const OnnxBuilder& to, const Value& h) {
  const ModelConfig& config = to.model.config;
  OnnxGraph& graph = to.graph;
  graph.enter("heads");
  Value cells = h;
  if (config.puzzle_emb_len > 0)
    cells =
        graph.node("Slice", {h, to.constants.ints("cells.first", Dims{config.puzzle_emb_len}),
                             to.constants.ints("cells.end", Dims{model::positions_count(config)}),
                             to.constants.ints("cells.axis", Dims{1})});
  const Value first = graph.node("Gather", {h, to.constants.scalar("first", int64_t{0})},
                                 {attribute("axis", int64_t{1})});
  const store::Tensor& bias = to.tensor("q_head.bias");
  return {add_float_linear(to, cells, "lm_head.weight"),
          graph.node("Add", {add_float_linear(to, first, "q_head.weight"),
                             to.constants.floats("q_head.bias", bias.shape, bias.values)})};
}

void add_step_graph(const OnnxBuilder& to) {
  const ModelConfig& config = to.model.config;
  const Value embedded = add_embedding(to);
  const OnnxStates states = add_step(to, embedded, add_states(to));
  const OnnxReadout readout = add_heads(to, states.h);
  to.graph.output("z_h_next", state_type(config), states.h);
  to.graph.output("z_l_next", state_type(config), states.l);
  to.graph.output("logits", logits_type(config), readout.logits);
  to.graph.output("halt_logits", kHaltType, readout.halt_logits);
}

}  // namespace driftless::exporter
