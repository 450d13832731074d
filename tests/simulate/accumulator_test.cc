// SPDX-License-Identifier: Apache-2.0
// Integer products with accumulators of any width inside a model, and what an observer sees of
// them.
#include <algorithm>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "driftless/model/schedule.h"
#include "driftless/reason/plan/linear_layers.h"
#include "driftless/simulate/accumulator_observer.h"
#include "driftless/simulate/cpu_reasoner.h"

#include "tests/simulate/random_model.h"
#include "tests/testing/expect_error.h"

namespace driftless::simulate {
namespace {

quant::QuantPlan plan_of(const store::Checkpoint& checkpoint, const char* weights,
                         const char* acts) {
  return quant::resolve(
      {.weights = quant::parse_quant_spec(weights), .acts = quant::parse_quant_spec(acts)},
      reason::linear_layers(checkpoint.config));
}

std::vector<float> logits_of(const store::Checkpoint& checkpoint, const CpuOptions& options,
                             reason::StepObserver* observer = nullptr) {
  const auto reasoner = make_cpu_reasoner(checkpoint, options);
  const std::vector<uint8_t> tokens = testing::random_tokens(checkpoint.config, 1);
  reasoner->reset(0, {.tokens = tokens});
  reasoner->step(std::vector<int64_t>{0}, observer);
  const auto logits = reasoner->read(0).logits;
  return {logits.begin(), logits.end()};
}

// With windows of 4 every sum is below K * 112^2 units, which is below 2^24 for K up to 1337: the
// simulation's float sums are then exact in any order, and a wide accumulator gives the same bits.
TEST(Accumulator, WideOnesGiveTheSimulationsBits) {
  for (const auto& [name, config] : testing::named_configs()) {
    SCOPED_TRACE(name);
    const store::Checkpoint checkpoint = testing::random_checkpoint(config, 3);
    auto plan = plan_of(checkpoint, "mxint4,window=4", "mxint4,window=4");
    const integer::Accumulator wide;
    const auto simulated = logits_of(checkpoint, {.slots = 1, .plan = &plan});
    EXPECT_EQ(logits_of(checkpoint, {.slots = 1, .plan = &plan, .accumulator = &wide}), simulated);
    const integer::Accumulator narrow{9, integer::Overflow::Saturate};
    EXPECT_NE(logits_of(checkpoint, {.slots = 1, .plan = &plan, .accumulator = &narrow}),
              simulated);
  }
}

struct Factors {
  const char *weights, *acts;
  int64_t weight_window, act_window;
  uint64_t largest;  // of a mantissa
};

void expect_sums_within_bounds(const Factors& factors) {
  const auto config = testing::named_configs()[1].config;  // Tokens, in parts, with a prefix.
  const store::Checkpoint checkpoint = testing::random_checkpoint(config, 4);
  const auto plan = plan_of(checkpoint, factors.weights, factors.acts);
  AccumulatorObserver observer(checkpoint, plan);
  const auto plain = logits_of(checkpoint, {.slots = 1, .plan = &plan});
  EXPECT_EQ(logits_of(checkpoint, {.slots = 1, .plan = &plan}, &observer), plain);
  const auto layers = observer.layers();
  EXPECT_EQ(layers.size(), 2 * plan.layers.size()) << "each layer for z_L and z_H";
  const auto calls = model::schedule(config);
  for (const LayerAccumulation& seen : layers) {
    SCOPED_TRACE(seen.layer);
    const auto count = std::count_if(
        calls.begin(), calls.end(), [&](const auto& call) { return call.updates == seen.updates; });
    const bool is_token_mixer = seen.layer.find("mlp_t") != std::string::npos;
    const int64_t rows = is_token_mixer ? 256 : 53;
    EXPECT_EQ(seen.sums(), count * rows * seen.outputs);
    EXPECT_EQ(std::accumulate(seen.acts.spread.begin(), seen.acts.spread.end(), int64_t{0}),
              count * rows * ((seen.k + 31) / 32));
    EXPECT_EQ(seen.acts.window, factors.act_window);
    EXPECT_EQ(seen.weights.window, factors.weight_window);
    EXPECT_LE(seen.most_bits(), seen.bits_for_weights);
    EXPECT_LE(seen.bits_for_weights, seen.bits_for_any_operands);
    EXPECT_EQ(seen.bits_for_any_operands,
              integer::guaranteed_bits(seen.k, factors.largest << factors.act_window,
                                       factors.largest << factors.weight_window));
    EXPECT_EQ(seen.share_beyond(seen.most_bits()), 0);
    EXPECT_GT(seen.share_beyond(seen.most_bits() - 1), 0);
    EXPECT_GE(seen.acts.least_shift(), 0);
  }
}

TEST(Accumulator, ObserverSeesEverySumWithinItsBounds) {
  expect_sums_within_bounds({"mxint4,window=2", "mxint4,window=4", 2, 4, 7});
  expect_sums_within_bounds({"int4_full/block32,scale=s4m3,window=1",
                             "int4_full/block32,scale=s4m3,window=3", 1, 3, 128});
}

TEST(FactorExponents, CountWhatTheWindowRaises) {
  const FactorExponents factor{.window = 2, .spread = {4, 2, 0, 1, 1}};
  EXPECT_EQ(factor.widest(), 4);
  EXPECT_EQ(factor.share_raised(), 0.25);
  EXPECT_EQ(factor.least_shift(), 0);
  EXPECT_EQ((FactorExponents{.window = 4, .spread = {9, 1}}.least_shift()), 3);
}

TEST(Accumulator, RefusesLayersWithoutIntegerProducts) {
  const store::Checkpoint checkpoint =
      testing::random_checkpoint(testing::named_configs()[0].config, 5);
  const integer::Accumulator wide;
  const auto run = [&](const char* weights, const char* acts) {
    const auto plan = plan_of(checkpoint, weights, acts);
    logits_of(checkpoint, {.slots = 1, .plan = &plan, .accumulator = &wide});
  };
  EXPECT_ERROR(run("mxfp4", "mxint4,window=4"), ErrorCode::Unsupported, "layer '");
  EXPECT_ERROR(run("mxint4", "mxint4"), ErrorCode::Unsupported, "window");
  EXPECT_ERROR(run("int8/channel", "int8/tensor"), ErrorCode::Unsupported, "per token");
  EXPECT_NO_THROW(run("int8/channel", "int8/token"));
  const auto heads = quant::resolve({.weights = quant::parse_quant_spec("mxint4"),
                                     .acts = quant::parse_quant_spec("mxint4,window=4"),
                                     .coverage = quant::Coverage::Linear},
                                    reason::linear_layers(checkpoint.config));
  EXPECT_ERROR(require_integer_layers(heads), ErrorCode::Unsupported, "q_head.weight");
}

}  // namespace
}  // namespace driftless::simulate
