// SPDX-License-Identifier: Apache-2.0
// The whole solve: an ONNX Loop whose body is one step. A board that halts keeps what it had then;
// the loop ends when all have halted, or at the limit.
#include "driftless/export/onnx/recursion.h"
#include "driftless/model/shapes.h"

namespace driftless::exporter {
namespace {

using model::ModelConfig;

const ValueType kCountType = {OnnxType::Int32, {kBatch}};
const ValueType kFlagType = {OnnxType::Bool, {kBatch}};

/// What the loop carries from step to step.
struct Carried {
  OnnxStates states;
  OnnxReadout readout;
  Value is_done;  ///< [batch]
  Value signals;  ///< [batch] steps that wanted to stop, as the model counts them
  Value steps;    ///< [batch]

  [[nodiscard]] std::vector<Value> values() const {
    return {states.h, states.l, readout.logits, readout.halt_logits, is_done, signals, steps};
  }
  static Carried of(std::span<const Value> values) {
    return {{values[0], values[1]}, {values[2], values[3]}, values[4], values[5], values[6]};
  }
};

constexpr std::array kCarriedNames = {"z_h",     "z_l",     "logits", "halt_logits",
                                      "is_done", "signals", "steps"};

std::array<ValueType, kCarriedNames.size()> carried_types(const ModelConfig& config) {
  const ValueType state = state_type(config);
  return {state, state, logits_type(config), kHaltType, kFlagType, kCountType, kCountType};
}

Value cast(OnnxGraph& graph, const Value& value, OnnxType type) {
  return graph.node("Cast", {value}, {attribute("to", static_cast<int64_t>(type))});
}

/// What every board begins with.
Carried add_start(const OnnxBuilder& to, const Value& embedded) {
  const ModelConfig& config = to.model.config;
  OnnxGraph& graph = to.graph;
  graph.enter("start");
  const Value shape = graph.node("Shape", {embedded});
  const Value batch = graph.node("Gather", {shape, to.constants.ints("batch_axis", Dims{0})});
  const auto zeros = [&](const char* name, const Dims& rest) {
    const Value dims = rest.empty() ? batch
                                    : graph.node("Concat", {batch, to.constants.ints(name, rest)},
                                                 {attribute("axis", int64_t{0})});
    return graph.node("ConstantOfShape", {dims});
  };
  const auto start = [&](const char* init, const char* input) {
    if (model::architecture(config).start == model::StartStates::Drawn)
      return graph.input(input, state_type(config));
    const store::Tensor& tensor = to.tensor(init);
    return graph.node("Expand", {to.constants.floats(init, tensor.shape, tensor.values), shape});
  };
  const OnnxStates states = {start("H_init", "z_h"), start("L_init", "z_l")};
  const Value counts = cast(graph, zeros("", {}), OnnxType::Int32);
  return {states,
          {zeros("logits.shape", {config.seq_len, config.vocab_size}), zeros("halt.shape", {2})},
          cast(graph, counts, OnnxType::Bool),
          counts,
          counts};
}

/// Whether the step wants to stop, by the rule of the model's training; reason::wants_halt.
Value add_wants_halt(const OnnxBuilder& to, const Value& halt_logits) {
  const ModelConfig& config = to.model.config;
  OnnxGraph& graph = to.graph;
  const auto logit = [&](const char* name, int64_t index) {
    return graph.node("Gather", {halt_logits, to.constants.scalar(name, index)},
                      {attribute("axis", int64_t{1})});
  };
  Value score = logit("first", 0);
  if (model::halt_rule(config) == model::HaltRule::Lead)
    score = graph.node("Sub", {score, logit("second", 1)});
  const auto threshold = static_cast<float>(config.halt_threshold);
  return graph.node("Greater", {score, to.constants.scalar("halt_threshold", threshold)});
}

Value add_signals(const OnnxBuilder& to, const Value& wants, const Value& before) {
  OnnxGraph& graph = to.graph;
  Value more = graph.node("Add", {before, cast(graph, wants, OnnxType::Int32)});
  if (to.model.config.halt_confirm_mode == model::HaltConfirm::Cumulative) return more;
  return graph.node("Where", {wants, more, to.constants.scalar("no_signals", int32_t{0})});
}

/// What a step makes of what is carried; boards that are done stay as they are.
Carried add_round(const OnnxBuilder& to, const Value& embedded, const Carried& before) {
  const ModelConfig& config = to.model.config;
  OnnxGraph& graph = to.graph;
  const OnnxStates states = add_step(to, embedded, before.states);
  const OnnxReadout readout = add_heads(to, states.h);
  graph.enter("halting");
  const auto each = [&](const char* name, const Dims& dims) {
    return graph.node("Reshape", {before.is_done, to.constants.ints(name, dims)});
  };
  const Value rows = each("each_board", {-1, 1, 1});
  const auto kept = [&](const Value& is_kept, const Value& old, const Value& fresh) {
    return graph.node("Where", {is_kept, old, fresh});
  };
  const Value is_active = cast(graph, graph.node("Not", {before.is_done}), OnnxType::Int32);
  Carried after{{kept(rows, before.states.h, states.h), kept(rows, before.states.l, states.l)},
                {kept(rows, before.readout.logits, readout.logits),
                 kept(each("each_row", {-1, 1}), before.readout.halt_logits, readout.halt_logits)},
                before.is_done,
                before.signals,
                graph.node("Add", {before.steps, is_active})};
  if (model::halt_rule(config) == model::HaltRule::Never) return after;
  after.signals = add_signals(to, add_wants_halt(to, readout.halt_logits), before.signals);
  const auto needed = static_cast<int32_t>(config.halt_confirm_steps);
  const Value is_enough =
      graph.node("Greater", {after.signals, to.constants.scalar("halt_confirm_steps", needed)});
  after.is_done = graph.node("Or", {before.is_done, is_enough});
  return after;
}

/// Whether any board is not done.
Value add_goes_on(OnnxGraph& graph, const Value& is_done) {
  const Value least = graph.node("ReduceMin", {cast(graph, is_done, OnnxType::Int32)},
                                 {attribute("keepdims", int64_t{0})});
  return graph.node("Not", {cast(graph, least, OnnxType::Bool)});
}

OnnxGraph body_of(const OnnxBuilder& outer, const Value& embedded) {
  OnnxGraph body("step", "step/");
  const OnnxBuilder to{body, outer.constants, outer.model, outer.precision};
  const auto types = carried_types(outer.model.config);
  body.input("step/number", {OnnxType::Int64, {}});
  body.input("step/goes_on", {OnnxType::Bool, {}});
  std::vector<Value> before;
  for (size_t i = 0; i < types.size(); ++i)
    before.push_back(body.input(std::string("step/") + kCarriedNames[i], types[i]));
  const Carried after = add_round(to, embedded, Carried::of(before));
  body.output("step/goes_on_next", {OnnxType::Bool, {}}, add_goes_on(body, after.is_done));
  const std::vector<Value> values = after.values();
  for (size_t i = 0; i < types.size(); ++i)
    body.output(std::string("step/") + kCarriedNames[i] + "_next", types[i], values[i]);
  return body;
}

}  // namespace

int64_t add_solve_graph(const OnnxBuilder& to, int64_t steps) {
  const ModelConfig& config = to.model.config;
  OnnxGraph& graph = to.graph;
  const Value embedded = add_embedding(to);
  std::vector<Value> inputs = {to.constants.scalar("most_steps", steps),
                               to.constants.scalar("true", true)};
  for (const Value& value : add_start(to, embedded).values()) inputs.push_back(value);
  const OnnxGraph body = body_of(to, embedded);
  graph.enter("solve");
  const Carried end = Carried::of(
      graph.nodes("Loop", inputs, kCarriedNames.size(), {graph_attribute("body", body.message())}));
  const Value answer =
      graph.node("ArgMax", {end.readout.logits},
                 {attribute("axis", int64_t{-1}), attribute("keepdims", int64_t{0})});
  graph.output("answer", {OnnxType::Int32, {kBatch, config.seq_len}},
               cast(graph, answer, OnnxType::Int32));
  graph.output("steps", kCountType, end.steps);
  graph.output("logits", logits_type(config), end.readout.logits);
  graph.output("halt_logits", kHaltType, end.readout.halt_logits);
  graph.output("z_h_next", state_type(config), end.states.h);
  graph.output("z_l_next", state_type(config), end.states.l);
  return body.node_count();
}

}  // namespace driftless::exporter
