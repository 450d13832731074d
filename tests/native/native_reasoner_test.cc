// SPDX-License-Identifier: Apache-2.0
// The native reasoner against the simulating engine, which multiplies decoded values in float32.
//
// Token mixers agree bit for bit: operands are the same integers times powers of two, a float sum
// of them is exact while it stays below 2^24 units (here K <= 768 products of at most 112 * 112),
// and everything else is the same code on the same values in the same order. So do models with
// attention in int8. In float, attention's scores and values are summed in another order there, and
// one rounded code more or less is a whole quantization step; those models are compared in the
// mean.
#include "driftless/native/native_reasoner.h"

#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "driftless/reason/plan/linear_layers.h"
#include "driftless/simulate/cpu_reasoner.h"

#include "tests/simulate/random_model.h"
#include "tests/testing/expect_error.h"

namespace driftless::native {
namespace {

using simulate::testing::named_configs;
using simulate::testing::NamedConfig;
using simulate::testing::random_checkpoint;
using simulate::testing::random_tokens;

store::PackedModel packed_model(const model::ModelConfig& config, const char* weights,
                                const char* acts, quant::Coverage coverage = quant::Coverage::Block,
                                const char* attention = "none") {
  return store::pack_model(
      random_checkpoint(config, 3),
      quant::resolve({.weights = quant::parse_quant_spec(weights),
                      .acts = quant::parse_quant_spec(acts),
                      .coverage = coverage,
                      .attention = quant::parse_attention_precision(attention)},
                     reason::linear_layers(config)));
}

/// Both states of three boards after some steps.
std::vector<float> outputs_of(reason::Reasoner& reasoner, int steps = 2) {
  const std::vector<int64_t> slots = {0, 1, 2};
  for (const int64_t slot : slots) {
    const auto seed = static_cast<uint64_t>(slot);
    const auto tokens = random_tokens(reasoner.config(), seed);
    reasoner.reset(slot, {.tokens = tokens, .seed = seed});
  }
  for (int step = 0; step < steps; ++step) reasoner.step(slots);
  std::vector<float> out;
  for (const int64_t slot : slots) {
    const reason::States states = reasoner.states(slot);
    out.insert(out.end(), states.h.begin(), states.h.end());
    out.insert(out.end(), states.l.begin(), states.l.end());
  }
  return out;
}

std::vector<float> native_outputs(const store::PackedModel& model, NativeOptions options = {}) {
  options.slots = 3;
  return outputs_of(*make_native_reasoner(model, options));
}

/// Mean squared distance over mean square.
double distance(const std::vector<float>& a, const std::vector<float>& b) {
  double error = 0;
  double power = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    error += std::pow(static_cast<double>(a[i]) - static_cast<double>(b[i]), 2);
    power += std::pow(static_cast<double>(b[i]), 2);
  }
  return error / power;
}

/// Null for what the simulation does not run.
std::unique_ptr<reason::Reasoner> simulation_of(const store::PackedModel& packed) {
  try {
    return simulate::make_cpu_reasoner(packed, {.slots = 3});
  } catch (const Error& error) {
    if (error.code() != ErrorCode::Unsupported) throw;
    return nullptr;
  }
}

class Native : public ::testing::TestWithParam<NamedConfig> {};

TEST_P(Native, EqualsTheSimulation) {
  for (const char* spec : {"mxint4,window=4", "mxint4,rule=mse,window=4"}) {
    const auto packed = packed_model(GetParam().config, spec, spec);
    const auto simulated = simulation_of(packed);
    if (simulated == nullptr) GTEST_SKIP() << "the simulation does not run it";
    const auto expected = outputs_of(*simulated);
    const auto got = native_outputs(packed);
    if (GetParam().config.mixer == model::Mixer::Tokens) {
      EXPECT_EQ(got, expected) << spec;
      continue;
    }
    // Quantization itself moves the states by about 1 here; a wrong layer would as well.
    EXPECT_LT(distance(got, expected), 0.02) << spec;
  }
}

TEST_P(Native, IsTheSameOnEveryKernelSetAndThreadCount) {
  struct Formats {
    const char *weights, *acts;
  };
  for (const auto& [spec, acts] :
       {Formats{"mxint4,window=4", "mxint4,window=4"},
        Formats{"mxint8,window=3", "mxint8,window=3"}, Formats{"int8/channel", "int8/token"},
        Formats{"int4_full/block32,scale=s4m3,window=3",
                "int4_full/block32,scale=s4m3,window=3"}}) {
    const auto packed = packed_model(GetParam().config, spec, acts, quant::Coverage::Linear);
    const auto expected = native_outputs(packed, {.kernels = &integer::kScalarKernels});
    for (const integer::KernelSet* set : integer::available_kernels())
      for (const int64_t threads : {1, 2, 3, 8})
        EXPECT_EQ(native_outputs(packed, {.threads = threads, .kernels = set}), expected)
            << spec << ", " << set->name << ", " << threads << " threads";
    for (const loop::EpilogueSet* set : loop::available_epilogues())
      EXPECT_EQ(native_outputs(packed, {.epilogues = set}), expected) << set->name;
  }
}

INSTANTIATE_TEST_SUITE_P(All, Native, ::testing::ValuesIn(named_configs()),
                         [](const auto& param) { return param.param.name; });

/// Models with attention, and among them head widths and numbers of keys that fill no block, panel
/// or vector, one, and several; more keys than the simulation sums at once; one head.
std::vector<NamedConfig> attention_configs() {
  std::vector<NamedConfig> configs;
  for (const NamedConfig& named : named_configs())
    if (named.config.mixer == model::Mixer::Attention) configs.push_back(named);
  const auto add = [&](std::string name, int64_t rows, int64_t heads, int64_t width) {
    NamedConfig named = configs.front();
    named.name = std::move(name);
    named.config.seq_len = rows;
    named.config.num_heads = heads;
    named.config.hidden_size = heads * width;
    named.config.h_cycles = named.config.l_cycles = named.config.num_layers = 1;
    configs.push_back(named);
  };
  add("Blocks", 64, 2, 32);
  add("OneHeadOfManyPanels", 31, 1, 70);
  add("ManyKeys", 517, 1, 36);
  return configs;
}

class NativeAttention : public ::testing::TestWithParam<NamedConfig> {};

TEST_P(NativeAttention, InInt8EqualsTheSimulationOnEveryKernelSetAndThreadCount) {
  const auto packed = packed_model(GetParam().config, "mxint4,window=4", "mxint4,window=4",
                                   quant::Coverage::Block, "int8");
  std::unique_ptr<reason::Reasoner> simulated;
  try {
    simulated = simulate::make_cpu_reasoner(packed, {.slots = 3, .threads = 2});
  } catch (const Error& error) {
    if (error.code() != ErrorCode::Unsupported) throw;
    GTEST_SKIP() << error.what();
  }
  const auto expected = outputs_of(*simulated);
  for (const integer::KernelSet* set : integer::available_kernels())
    for (const int64_t threads : {1, 2})
      EXPECT_EQ(native_outputs(packed, {.threads = threads, .kernels = set}), expected)
          << set->name << ", " << threads << " threads";
  for (const loop::EpilogueSet* set : loop::available_epilogues())
    EXPECT_EQ(native_outputs(packed, {.epilogues = set}), expected) << set->name;
  const auto floats = packed_model(GetParam().config, "mxint4,window=4", "mxint4,window=4");
  EXPECT_NE(native_outputs(floats), expected) << "the plan's attention has no effect";
}

INSTANTIATE_TEST_SUITE_P(All, NativeAttention, ::testing::ValuesIn(attention_configs()),
                         [](const auto& param) { return param.param.name; });

TEST(NativeReasoner, RunsInt8PerTokenAndChannel) {
  model::ModelConfig config = named_configs()[1].config;
  config.h_cycles = config.l_cycles = config.num_layers = 1;  // random weights grow what differs
  const auto packed = packed_model(config, "int8/channel", "int8/token");
  const auto got = outputs_of(*make_native_reasoner(packed, {.slots = 3}), 1);
  try {
    // Float scales round differently on the two ways; a code more or less is 1/127 of a row's
    // largest value.
    EXPECT_LT(distance(got, outputs_of(*simulate::make_cpu_reasoner(packed, {.slots = 3}), 1)),
              1e-3);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::Unsupported) throw;
    GTEST_SKIP() << error.what();
  }
}

/// Scales per row are no powers of two, so that float sums of values differ in their last bits.
/// Sums of the codes do not, and both ways take them times both scales.
void expect_equal_to_exact_sums(const char* weights, const char* acts) {
  for (const NamedConfig& named : named_configs()) {
    if (named.config.mixer != model::Mixer::Tokens) continue;
    SCOPED_TRACE(named.name + ", " + weights);
    const store::Checkpoint checkpoint = random_checkpoint(named.config, 3);
    const quant::QuantPlan plan = quant::resolve(
        {.weights = quant::parse_quant_spec(weights), .acts = quant::parse_quant_spec(acts)},
        reason::linear_layers(named.config));
    const integer::Accumulator any_width;
    const auto simulated = simulate::make_cpu_reasoner(
        checkpoint, {.slots = 3, .plan = &plan, .accumulator = &any_width});
    EXPECT_EQ(native_outputs(store::pack_model(checkpoint, plan)), outputs_of(*simulated));
  }
}

TEST(NativeReasoner, InInt8EqualsTheSimulationWithExactSums) {
  expect_equal_to_exact_sums("int8/channel", "int8/token");
}

TEST(NativeReasoner, WithFractionsEqualsTheSimulationInEveryWindow) {
  const std::string spec = "int4_full/block32,scale=s4m3,window=";
  for (const char window : {'0', '1', '3'})
    expect_equal_to_exact_sums((spec + window).c_str(), (spec + window).c_str());
  expect_equal_to_exact_sums("int4/block32,scale=e5m3,window=3", (spec + '2').c_str());
  // Without exact sums too, while float sums of the values stay below 2^24 units.
  for (const char* text :
       {"int4_full/block32,scale=s4m3,window=0", "int4_full/block32,scale=s4m3,window=3"}) {
    const auto packed = packed_model(named_configs()[1].config, text, text);
    try {
      EXPECT_EQ(native_outputs(packed),
                outputs_of(*simulate::make_cpu_reasoner(packed, {.slots = 3})))
          << text;
    } catch (const Error& error) {
      if (error.code() != ErrorCode::Unsupported) throw;
      GTEST_SKIP() << error.what();
    }
  }
}

/// Changes of the inputs of all layers, or of every other one.
store::PackedModel packed_changes(const model::ModelConfig& config, const char* spec, bool all,
                                  const char* attention = "none") {
  store::PackedModel packed = packed_model(config, spec, spec, quant::Coverage::Block, attention);
  for (size_t i = 0; i < packed.plan.layers.size(); ++i)
    packed.plan.layers[i].delta = all || i % 2 == 0;
  return packed;
}

TEST_P(Native, ChangesEqualTheSimulationOnEveryKernelSetAndThreadCount) {
  const bool has_attention = GetParam().config.mixer == model::Mixer::Attention;
  for (const char* spec : {"mxint4,window=4", "int4_full/block32,scale=s4m3,window=0",
                           "int4_full/block32,scale=s4m3,window=3"})
    for (const bool all : {true, false}) {
      // Attention has the simulation's bits in int8.
      const auto packed =
          packed_changes(GetParam().config, spec, all, has_attention ? "int8" : "none");
      const auto simulated = simulation_of(packed);
      if (simulated == nullptr) GTEST_SKIP() << "the simulation does not run it";
      const auto expected = outputs_of(*simulated);
      for (const integer::KernelSet* set : integer::available_kernels())
        for (const int64_t threads : {1, 2, 3})
          EXPECT_EQ(native_outputs(packed, {.threads = threads, .kernels = set}), expected)
              << spec << ", " << set->name << ", " << threads << " threads";
    }
}

TEST(NativeReasoner, ChangesOfInt8AreTheSameOnEverySetAndKeepNothingOfEarlierBoards) {
  const auto packed = [&] {
    store::PackedModel model =
        packed_model(named_configs()[1].config, "int8/channel", "int8/token");
    for (quant::LayerPlan& layer : model.plan.layers) layer.delta = true;
    return model;
  }();
  const auto expected = native_outputs(packed, {.kernels = &integer::kScalarKernels});
  for (const integer::KernelSet* set : integer::available_kernels()) {
    const auto reasoner = make_native_reasoner(packed, {.slots = 3, .threads = 2, .kernels = set});
    for (int board = 0; board < 2; ++board)
      EXPECT_EQ(outputs_of(*reasoner), expected) << set->name << ", board " << board;
  }
}

TEST(NativeReasoner, RefusesASlotThatIsNamedTwice) {
  const model::ModelConfig config = named_configs()[0].config;
  const auto reasoner = make_native_reasoner(
      packed_model(config, "mxint4,window=4", "mxint4,window=4"), {.slots = 2});
  reasoner->reset(0, {.tokens = random_tokens(config, 1)});
  EXPECT_ERROR(reasoner->step(std::vector<int64_t>{0, 0}), ErrorCode::InvalidArgument, "twice");
}

TEST(NativeReasoner, SaysWhichLayerItCannotRunAndWhy) {
  const model::ModelConfig config = named_configs()[0].config;
  const auto make = [&](const char* weights, const char* acts) {
    (void)make_native_reasoner(packed_model(config, weights, acts), {});
  };
  EXPECT_ERROR(make("mxint4", "none"), ErrorCode::Unsupported, "activations are floats");
  EXPECT_ERROR(make("mxfp4", "mxint4,window=4"), ErrorCode::Unsupported, "mlp_t.gate_up_proj");
  EXPECT_ERROR(make("mxint4,window=4", "mxint4"), ErrorCode::Unsupported, "window=4");
  EXPECT_ERROR(make("mxint4,window=4", "uint8/token"), ErrorCode::Unsupported, "simulation only");
  store::PackedModel part = packed_model(config, "mxint4,window=4", "mxint4,window=4");
  part.plan.layers.erase(part.plan.layers.begin());
  EXPECT_ERROR((void)make_native_reasoner(part, {}), ErrorCode::Unsupported, "weights are floats");
  for (quant::LayerPlan& layer : part.plan.layers) layer.hadamard = true;
  EXPECT_ERROR((void)make_native_reasoner(part, {}), ErrorCode::Unsupported, "layer '");
}

TEST(NativeReasoner, RefusesBadOptionsAndObserversOfInputs) {
  const auto packed = packed_model(named_configs()[0].config, "mxint4", "mxint4,window=4");
  EXPECT_ERROR((void)make_native_reasoner(packed, {.slots = 0}), ErrorCode::InvalidArgument,
               "slots");
  EXPECT_ERROR((void)make_native_reasoner(packed, {.threads = 0}), ErrorCode::InvalidArgument,
               "threads");
  struct Curious : reason::StepObserver {
    [[nodiscard]] bool wants(reason::Point) const override { return true; }
    void observe(const reason::Observation&) override {}
  } curious;
  const auto reasoner = make_native_reasoner(packed, {.slots = 1});
  reasoner->reset(0, {.tokens = random_tokens(packed.config, 1)});
  const std::vector<int64_t> slots = {0};
  EXPECT_ERROR(reasoner->step(slots, &curious), ErrorCode::Unsupported, "simulate");
}

TEST(NativeReasoner, NamesBoardLayerAndCallOfNumbersThatAreNotFinite) {
  const auto packed = packed_model(named_configs()[0].config, "mxint4", "mxint4,window=4");
  const auto reasoner = make_native_reasoner(packed, {.slots = 1});
  reasoner->reset(0, {.tokens = random_tokens(packed.config, 1), .number = 17});
  std::vector<float> h(reasoner->states(0).h.begin(), reasoner->states(0).h.end());
  const std::vector<float> l(reasoner->states(0).l.begin(), reasoner->states(0).l.end());
  h[5] = NAN;
  reasoner->set_states(0, {.h = h, .l = l});
  const std::vector<int64_t> slots = {0};
  EXPECT_ERROR(reasoner->step(slots), ErrorCode::Numeric,
               "board 17, layer 'L_level.layers.0.mlp_t");
}

TEST(NativeReasoner, NamesTheAttentionWhoseValuesAreNotFinite) {
  // Weights so large that the projection overflows: 2^127 codes times whole blocks.
  store::Checkpoint checkpoint = random_checkpoint(attention_configs()[0].config, 3);
  for (auto& [name, tensor] : checkpoint.tensors)
    if (name.ends_with("qkv_proj.weight"))
      for (float& value : tensor.values) value = 0x1p126f;
  const auto packed = store::pack_model(
      checkpoint, quant::resolve({.weights = quant::parse_quant_spec("mxint4,window=4"),
                                  .acts = quant::parse_quant_spec("mxint4,window=4"),
                                  .attention = quant::AttentionPrecision::Int8},
                                 reason::linear_layers(checkpoint.config)));
  const auto reasoner = make_native_reasoner(packed, {.slots = 1});
  reasoner->reset(0, {.tokens = random_tokens(packed.config, 1), .number = 17});
  const std::vector<int64_t> slots = {0};
  EXPECT_ERROR(reasoner->step(slots), ErrorCode::Numeric,
               "board 17, layer 'L_level.layers.0.self_attn', call 0: queries");
}

TEST(WithWindows, AddsOneWhereMxIntegersHaveNone) {
  const auto layers = reason::linear_layers(named_configs()[0].config);
  const auto plan = with_windows(quant::resolve(
      {.weights = quant::parse_quant_spec("mxint4"), .acts = quant::parse_quant_spec("mxfp4")},
      layers));
  EXPECT_EQ(to_string(plan.layers[0].weights), "mxint4,window=4");
  EXPECT_EQ(to_string(plan.layers[0].acts), "mxfp4");
}

TEST(WithWindows, BlocksWithFractionsGetOneWhereTheyHaveNone) {
  const auto text = [](const char* spec) {
    return to_string(with_window(quant::parse_quant_spec(spec)));
  };
  EXPECT_EQ(text("int4_full/block32,scale=s4m3"), "int4_full/block32,scale=s4m3,window=0");
  EXPECT_EQ(text("int4_full/block32,scale=s4m3,window=3"), "int4_full/block32,scale=s4m3,window=3");
}

TEST(WithWindows, ChangesGetAWiderOneWhereTheirScalesAllowIt) {
  const auto text = [](const char* spec) {
    return to_string(with_window(quant::parse_quant_spec(spec), true));
  };
  EXPECT_EQ(text("int4_full/block32,scale=s4m3"), "int4_full/block32,scale=s4m3,window=3");
  EXPECT_EQ(text("int4/block32,scale=e4m4"), "int4/block32,scale=e4m4,window=0");
  EXPECT_EQ(text("mxint4"), "mxint4,window=4");
  quant::Scheme scheme{.weights = quant::parse_quant_spec("int4/block32,scale=e5m3"),
                       .acts = quant::parse_quant_spec("int4/block32,scale=e5m3"),
                       .delta = true};
  const auto layers = reason::linear_layers(named_configs()[0].config);
  const auto plan = with_windows(quant::resolve(scheme, layers));
  EXPECT_EQ(to_string(plan.layers[0].weights), "int4/block32,scale=e5m3,window=3");
  EXPECT_EQ(to_string(plan.layers[0].acts), "int4/block32,scale=e5m3,window=3");
}

}  // namespace
}  // namespace driftless::native
