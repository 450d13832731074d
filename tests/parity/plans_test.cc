// SPDX-License-Identifier: Apache-2.0
// Simulated quantization on libtorch against the CPU engine, for every architecture.
//
// Quantized operands are the same to the bit wherever the float inputs are: at the first layer, and
// everywhere by the quantizer's own account of what entered it. After that the backends differ in
// the order of sums, and a value near the middle of two steps may round to the other one. That
// costs one step, as much as two roundings cost, and happens to few values, so that the backends
// must stay closer to each other than to the float model. With delta quantizers say what changes
// have added up to, and the yardstick is how far the same plan without delta is from the float
// model: its steps are those that a value may be rounded to, while sums of changes come so near to
// float that random networks turn one such step into more than their distance from it.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "driftless/lab/reasoner/torch_reasoner.h"
#include "driftless/model/schedule.h"
#include "driftless/quant/plan/planned_layer.h"
#include "driftless/reason/plan/calibrate.h"
#include "driftless/reason/plan/linear_layers.h"
#include "driftless/simulate/cpu_reasoner.h"

#include "tests/simulate/random_model.h"
#include "tests/testing/expect_error.h"

namespace driftless {
namespace {

using reason::Point;
using simulate::testing::NamedConfig;

constexpr int64_t kPlanBoards = 2;
constexpr int64_t kPlanSteps = 2;

struct Matrix {
  std::vector<float> values;
  int64_t columns = 0;
};

/// The inputs of linear layers, pieces joined, by slot, call and layer.
struct Inputs : reason::StepObserver {
  using Key = std::tuple<int64_t, int64_t, std::string>;
  [[nodiscard]] bool wants(Point point) const override {
    return point == Point::LinearInput || point == Point::QuantizedInput;
  }
  void observe(const reason::Observation& o) override {
    auto& all = o.point == Point::LinearInput ? entered : multiplied;
    Matrix& matrix = all[{o.slot, o.call, std::string(o.layer)}];
    matrix.columns = o.values.columns;
    for (int64_t row = 0; row < o.values.rows; ++row)
      for (int64_t column = 0; column < o.values.columns; ++column)
        matrix.values.push_back(o.values.at(row, column));
  }
  std::map<Key, Matrix> entered, multiplied;
};

/// What the inputs of layers with delta have added up to, by slot, layer and updated state.
using SumsOfChanges = std::map<std::tuple<int64_t, std::string, model::State>, std::vector<float>>;

double distance(std::span<const float> a, std::span<const float> b) {
  double squares = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const double difference = static_cast<double>(a[i]) - static_cast<double>(b[i]);
    squares += difference * difference;
  }
  return std::sqrt(squares);
}

bool are_same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

bool has_changes(const quant::QuantPlan& plan) {
  return std::any_of(plan.layers.begin(), plan.layers.end(),
                     [](const quant::LayerPlan& layer) { return layer.delta; });
}

std::vector<quant::Scheme> plan_schemes() {
  const auto both = [](const char* text) {
    quant::Scheme scheme;
    scheme.weights = scheme.acts = quant::parse_quant_spec(text);
    return scheme;
  };
  quant::Scheme transformed = both("int8/tensor/static");
  transformed.smooth = 0.5;
  transformed.hadamard = true;
  transformed.sharing = quant::ScaleSharing::Call;
  quant::Scheme linear = both("mxint8,rule=mse");
  linear.coverage = quant::Coverage::Linear;
  linear.bias = quant::BiasPrecision::Int16;
  quant::Scheme weights_only = both("int8/channel");
  weights_only.acts = {};
  quant::Scheme tokens = both("int8/token");
  tokens.weights = quant::parse_quant_spec("int8/channel,calib=mse");
  quant::Scheme stored = both("int4_full/block32,scale=s4m3");
  stored.weights = quant::parse_quant_spec("mxint4");
  quant::Scheme rotated = both("mxint4");
  rotated.hadamard = true;
  std::vector<quant::Scheme> schemes = {both("mxint8"), both("nvfp4"),       both("int8/tensor"),
                                        tokens,         transformed,         linear,
                                        weights_only,   both("int8/group32")};
  for (quant::Scheme changes : {both("mxint4"), stored, tokens, rotated}) {
    changes.delta = true;
    schemes.push_back(changes);
  }
  return schemes;
}

class Plans : public ::testing::TestWithParam<NamedConfig> {
 protected:
  Plans() : checkpoint_(simulate::testing::random_checkpoint(GetParam().config, 7)) {
    for (uint64_t i = 0; i < kPlanBoards; ++i)
      tokens_.push_back(simulate::testing::random_tokens(GetParam().config, 8 + i));
  }

  [[nodiscard]] std::vector<reason::Board> boards() const {
    std::vector<reason::Board> boards;
    for (const auto& tokens : tokens_)
      boards.push_back({.tokens = tokens, .seed = 5, .number = 70 + std::ssize(boards)});
    return boards;
  }
  void reset(reason::Reasoner& reasoner) const {
    for (int64_t i = 0; i < kPlanBoards; ++i) reasoner.reset(i, boards()[static_cast<size_t>(i)]);
  }
  [[nodiscard]] quant::QuantPlan plan_of(const quant::Scheme& scheme) const {
    quant::QuantPlan plan = quant::resolve(scheme, reason::linear_layers(checkpoint_.config));
    reason::calibrate(
        [&](const quant::QuantPlan* transforms) {
          return simulate::make_cpu_reasoner(checkpoint_, {.slots = 1, .plan = transforms});
        },
        boards(), plan);
    return plan;
  }

  /// Those of all schemes; where inputs are changes, also with them in every other layer only.
  [[nodiscard]] std::vector<quant::QuantPlan> plans() const {
    std::vector<quant::QuantPlan> plans;
    for (const quant::Scheme& scheme : plan_schemes()) {
      plans.push_back(plan_of(scheme));
      if (!scheme.delta) continue;
      quant::QuantPlan mixed = plans.back();
      for (size_t i = 0; i < mixed.layers.size(); i += 2) mixed.layers[i].delta = false;
      plans.push_back(mixed);
    }
    return plans;
  }

  /// What the layers of the plan multiply is what their quantizers make of what entered. The sums
  /// are those after earlier steps, and become those after this one.
  void expect_quantized(const quant::QuantPlan& plan, const Inputs& seen, SumsOfChanges& sums,
                        int64_t step) const {
    const std::vector<model::NetworkCall> calls = model::schedule(checkpoint_.config);
    ASSERT_FALSE(seen.multiplied.empty());
    for (const auto& [key, matrix] : seen.multiplied) {
      const auto& [slot, call, name] = key;
      const Matrix& entered = seen.entered.at(key);
      const store::Tensor& weight = checkpoint_.tensors.at(name);
      const quant::PlannedLayer layer(*plan.find(name),
                                      {weight.values.data(), weight.shape[0], weight.shape[1]});
      std::vector<float> wanted;
      std::vector<float>& sum = sums[{slot, name, calls[static_cast<size_t>(call)].updates}];
      sum.resize(entered.values.size());
      const bool is_change = layer.plan().delta;
      const bool is_first_round = step == 1 && call <= checkpoint_.config.l_cycles;
      for (int pass = 0; pass < (is_change && is_first_round ? 2 : 1); ++pass) {
        wanted = entered.values;
        for (size_t i = 0; i < sum.size() && is_change; ++i) wanted[i] -= sum[i];
        const int64_t rows = std::ssize(wanted) / entered.columns;
        layer.input_quantizer(call).fake_quantize({wanted.data(), rows, entered.columns},
                                                  {wanted.data(), rows, entered.columns});
        for (size_t i = 0; i < sum.size() && is_change; ++i) wanted[i] = sum[i] += wanted[i];
      }
      EXPECT_TRUE(are_same_bits(matrix.values, wanted)) << name << ", call " << call;
    }
  }

  store::Checkpoint checkpoint_;
  std::vector<std::vector<uint8_t>> tokens_;
};

TEST_P(Plans, RunAsOnTheEngineStepByStep) {
  const std::vector<int64_t> slots = {0, 1};
  for (const quant::QuantPlan& plan : plans()) {
    SCOPED_TRACE(quant::describe(plan, reason::linear_layers(checkpoint_.config)));
    const auto in_float = simulate::make_cpu_reasoner(checkpoint_, {.slots = kPlanBoards});
    const auto cpu =
        simulate::make_cpu_reasoner(checkpoint_, {.slots = kPlanBoards, .plan = &plan});
    quant::QuantPlan plain = plan;
    for (quant::LayerPlan& layer : plain.layers) layer.delta = false;
    const auto coarse =
        simulate::make_cpu_reasoner(checkpoint_, {.slots = kPlanBoards, .plan = &plain});
    const auto torch = lab::make_torch_reasoner(checkpoint_, {.slots = kPlanBoards, .plan = &plan});
    const auto unseen =
        lab::make_torch_reasoner(checkpoint_, {.slots = kPlanBoards, .plan = &plan});
    for (reason::Reasoner* reasoner :
         {in_float.get(), cpu.get(), coarse.get(), torch.get(), unseen.get()})
      reset(*reasoner);
    SumsOfChanges sums;
    // Without delta a step knows nothing of earlier ones but the states, so that one says it all.
    for (int64_t step = 1; step <= (has_changes(plan) ? kPlanSteps : 1); ++step) {
      SCOPED_TRACE("step " + std::to_string(step));
      Inputs of_cpu, of_torch;
      in_float->step(slots);
      coarse->step(slots);
      cpu->step(slots, &of_cpu);
      torch->step(slots, &of_torch);
      unseen->step(slots);
      ASSERT_EQ(of_cpu.entered.size(), of_torch.entered.size());
      ASSERT_EQ(of_cpu.multiplied.size(), of_torch.multiplied.size());
      for (const auto& [key, matrix] : of_cpu.entered)
        EXPECT_EQ(of_torch.entered.at(key).values.size(), matrix.values.size()) << std::get<2>(key);
      if (!plan.layers[0].acts.is_none()) expect_quantized(plan, of_torch, sums, step);
      // Random networks grow what differs: after two steps that is as far as float.
      if (step > 1) continue;
      for (const int64_t slot : slots) {
        const double error = distance(coarse->states(slot).h, in_float->states(slot).h);
        EXPECT_LT(distance(torch->states(slot).h, cpu->states(slot).h), error);
        EXPECT_LT(distance(unseen->states(slot).h, cpu->states(slot).h), error);
        EXPECT_LT(distance(torch->read(slot).logits, cpu->read(slot).logits),
                  distance(coarse->read(slot).logits, in_float->read(slot).logits));
      }
    }
  }
}

TEST_P(Plans, NewStatesKeepTheSumsOfChanges) {
  quant::Scheme scheme;
  scheme.weights = scheme.acts = quant::parse_quant_spec("mxint4");
  scheme.delta = true;
  const quant::QuantPlan plan = plan_of(scheme);
  const auto torch = lab::make_torch_reasoner(checkpoint_, {.slots = kPlanBoards, .plan = &plan});
  reset(*torch);
  const std::vector<float> state(torch->states(1).h.size(), 0.5f);
  const std::vector<int64_t> slots = {0, 1};
  SumsOfChanges sums;
  for (int64_t step = 1; step <= kPlanSteps; ++step) {
    Inputs seen;
    torch->step(slots, &seen);
    expect_quantized(plan, seen, sums, step);
    torch->set_states(1, {.h = state, .l = state});
  }
}

TEST_P(Plans, FirstOperandsAreTheEnginesToTheBit) {
  for (const char* text : {"mxint4", "mxfp4,rule=mse", "int4/tensor", "nvfp4"}) {
    quant::Scheme scheme;
    scheme.weights = scheme.acts = quant::parse_quant_spec(text);
    const quant::QuantPlan plan = plan_of(scheme);
    const auto cpu =
        simulate::make_cpu_reasoner(checkpoint_, {.slots = kPlanBoards, .plan = &plan});
    const auto torch = lab::make_torch_reasoner(checkpoint_, {.slots = kPlanBoards, .plan = &plan});
    Inputs of_cpu, of_torch;
    for (const auto& [reasoner, seen] :
         {std::pair{cpu.get(), &of_cpu}, std::pair{torch.get(), &of_torch}}) {
      reset(*reasoner);
      reasoner->step(std::vector<int64_t>{0, 1}, seen);
    }
    // The layer of the first call whose input no product came before.
    const model::Network network = model::networks(
        checkpoint_.config)[static_cast<size_t>(model::schedule(checkpoint_.config)[0].network)];
    const bool attends = checkpoint_.config.mixer == model::Mixer::Attention;
    const std::string first = model::layer_name(network, 0) +
                              (attends ? ".self_attn.qkv_proj" : ".mlp_t.gate_up_proj") + ".weight";
    for (const int64_t slot : {0, 1})
      EXPECT_TRUE(are_same_bits(of_torch.multiplied.at({slot, 0, first}).values,
                                of_cpu.multiplied.at({slot, 0, first}).values))
          << text;
  }
}

TEST_P(Plans, EmptyPlanIsFloatToTheBit) {
  const quant::QuantPlan empty;
  const auto with = lab::make_torch_reasoner(checkpoint_, {.slots = kPlanBoards, .plan = &empty});
  const auto without = lab::make_torch_reasoner(checkpoint_, {.slots = kPlanBoards});
  reset(*with);
  reset(*without);
  const std::vector<int64_t> slots = {0, 1};
  with->step(slots);
  without->step(slots);
  for (const int64_t slot : slots) {
    const auto a = with->read(slot).logits;
    const auto b = without->read(slot).logits;
    EXPECT_TRUE(are_same_bits({a.begin(), a.end()}, {b.begin(), b.end()}));
  }
}

TEST_P(Plans, RefuseWhatIsNotFiniteOrDoesNotFit) {
  quant::Scheme scheme;
  scheme.weights = scheme.acts = quant::parse_quant_spec("mxint4");
  quant::QuantPlan plan;
  for (const bool delta : {false, true}) {
    scheme.delta = delta;
    plan = plan_of(scheme);
    const auto torch = lab::make_torch_reasoner(checkpoint_, {.slots = kPlanBoards, .plan = &plan});
    reset(*torch);
    std::vector<float> state(torch->states(1).h.size(), 0.5f);
    const std::vector<float> good = state;
    state[3] = std::numeric_limits<float>::quiet_NaN();
    torch->set_states(1, {.h = state, .l = good});
    EXPECT_ERROR(torch->step(std::vector<int64_t>{0, 1}), ErrorCode::Numeric, "board 71, layer '");
  }
  plan.layers[0].name += "s";
  EXPECT_ERROR(lab::make_torch_reasoner(checkpoint_, {.plan = &plan}), ErrorCode::BadConfig,
               plan.layers[0].name);
}

/// Keeps the extent of what each layer sees in each call, from values or from their extremes.
struct Extremes : reason::StepObserver {
  explicit Extremes(bool extremes_only) : is_content(extremes_only) {}
  [[nodiscard]] bool wants(Point point) const override { return point == Point::LinearInput; }
  [[nodiscard]] bool wants_extremes_only() const override { return is_content; }
  void observe(const reason::Observation& o) override {
    auto& [low, high] = seen[{o.call, std::string(o.layer)}];
    for (int64_t row = 0; row < o.values.rows; ++row)
      for (int64_t column = 0; column < o.values.columns; ++column) {
        low = std::min(low, o.values.at(row, column));
        high = std::max(high, o.values.at(row, column));
      }
  }
  bool is_content;
  std::map<std::pair<int64_t, std::string>, std::pair<float, float>> seen;
};

TEST_P(Plans, ExtremesAreThoseOfTheValues) {
  quant::Scheme scheme;
  scheme.hadamard = true;
  scheme.weights = quant::parse_quant_spec("int8/channel");
  const quant::QuantPlan plan = plan_of(scheme);
  const auto torch = lab::make_torch_reasoner(checkpoint_, {.slots = kPlanBoards, .plan = &plan});
  Extremes values(false), extremes(true);
  for (Extremes* const observer : {&values, &extremes}) {
    reset(*torch);
    torch->step(std::vector<int64_t>{0, 1}, observer);
  }
  EXPECT_FALSE(values.seen.empty());
  EXPECT_EQ(values.seen, extremes.seen);
}

INSTANTIATE_TEST_SUITE_P(All, Plans, ::testing::ValuesIn(simulate::testing::named_configs()),
                         [](const auto& param) { return param.param.name; });

}  // namespace
}  // namespace driftless
