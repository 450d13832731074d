// SPDX-License-Identifier: Apache-2.0
// The kernels of cuda/integers, run on a CPU by the emulator, against the native engine: every bit
// of the states and of what the heads say.
#include <gtest/gtest.h>

#include "driftless/lab/reasoner/torch_reasoner.h"
#include "driftless/native/native_reasoner.h"
#include "driftless/quant/plan/plan.h"
#include "driftless/reason/plan/linear_layers.h"

#include "tests/simulate/random_model.h"
#include "tests/testing/expect_error.h"

namespace driftless::lab {
namespace {

namespace models = simulate::testing;

struct Formats {
  const char* weights;
  const char* acts;
};

/// Attention, where there is any, in int8.
store::PackedModel packed(const model::ModelConfig& config, const Formats& formats,
                          quant::Coverage coverage = quant::Coverage::Block) {
  const bool has_attention = config.mixer == model::Mixer::Attention;
  return store::pack_model(
      models::random_checkpoint(config, 3),
      quant::resolve({.weights = quant::parse_quant_spec(formats.weights),
                      .acts = quant::parse_quant_spec(formats.acts),
                      .coverage = coverage,
                      .attention = has_attention ? quant::AttentionPrecision::Int8
                                                 : quant::AttentionPrecision::Float},
                     reason::linear_layers(config)));
}

model::ModelConfig config_named(const std::string& name) {
  for (const models::NamedConfig& named : models::named_configs())
    if (named.name == name) return named.config;
  fail(ErrorCode::Internal, "no model '", name, "'");
}

/// States, logits and halting of two boards after a step.
std::vector<float> outputs_of(reason::Reasoner& reasoner) {
  const std::vector<int64_t> slots = {0, 1};
  for (const int64_t slot : slots)
    reasoner.reset(
        slot, {.tokens = models::random_tokens(reasoner.config(), static_cast<uint64_t>(slot))});
  reasoner.step(slots);
  std::vector<float> out;
  for (const int64_t slot : slots) {
    const reason::States states = reasoner.states(slot);
    const reason::Readout readout = reasoner.read(slot);
    out.insert(out.end(), states.h.begin(), states.h.end());
    out.insert(out.end(), states.l.begin(), states.l.end());
    out.insert(out.end(), readout.logits.begin(), readout.logits.end());
    out.insert(out.end(), {readout.halt_logit, readout.continue_logit});
  }
  return out;
}

void expect_bits_of_the_native_engine(const model::ModelConfig& config, const Formats& formats) {
  const store::PackedModel model = packed(config, formats);
  const auto expected = outputs_of(*native::make_native_reasoner(model, {.slots = 2}));
  EXPECT_EQ(outputs_of(*make_integer_reasoner(model, {.slots = 2})), expected) << formats.acts;
}

// Widths and lengths that fill no step of 32 and no tile of 128; several of each; rows of a prefix.
TEST(EmulatedIntegers, HaveTheBitsOfTheNativeEngine) {
  for (const char* name : {"TrmTokens", "TrmTokensPartsPrefix", "HrmTokens", "TrmUntiedTokens",
                           "TrmAttentionNone", "TrmRope2d", "HrmRope"}) {
    SCOPED_TRACE(name);
    expect_bits_of_the_native_engine(config_named(name), {"mxint4,window=4", "mxint4,window=4"});
  }
}

TEST(EmulatedIntegers, HaveTheBitsOfTheNativeEngineInEveryFormat) {
  model::ModelConfig config = config_named("TrmTokens");
  config.h_cycles = config.l_cycles = config.num_layers = 1;
  config.seq_len = 41;
  config.hidden_size = 72;
  for (const Formats& formats :
       {Formats{"mxint4,rule=mse,window=3", "mxint3,rule=even,window=2"},
        Formats{"int8/channel", "int8/token"}, Formats{"int4/tensor", "int5/token"},
        Formats{"int4_full/block32,scale=s4m3,window=0", "int4_full/block32,scale=s4m3,window=0"},
        Formats{"int4/block32,scale=e5m3,window=0", "int4/block32,scale=e5m3,rule=rceil,window=0"}})
    expect_bits_of_the_native_engine(config, formats);
}

TEST(EmulatedIntegers, RefuseWhatTheyDoNotRun) {
  const auto refuses = [](const store::PackedModel& model, const char* why) {
    EXPECT_ERROR(make_integer_reasoner(model, {.slots = 1}), ErrorCode::Unsupported, why);
  };
  const Formats mxint4{"mxint4,window=4", "mxint4,window=4"};
  store::PackedModel attention = packed(config_named("TrmAttentionNone"), mxint4);
  attention.plan.attention = quant::AttentionPrecision::Float;
  refuses(attention, "got attention in float");
  refuses(packed(config_named("EqrTokens"), mxint4), "noise");
  refuses(packed(config_named("TrmTokensLearned"), mxint4), "learned positions");
  const model::ModelConfig tokens = config_named("TrmTokens");
  refuses(packed(tokens, mxint4, quant::Coverage::Linear), "quantized head");
  refuses(packed(tokens, {"mxint8,window=3", "mxint4,window=4"}), "do not fit bytes");
  refuses(packed(tokens, {"mxint4,window=4", "mxint8,window=3"}), "got mxint8,window=3, expected");
  refuses(packed(tokens, {"mxint4,window=4", "mxint4,rule=mse,window=4"}), "another rule than mse");
  refuses(packed(tokens, {"mxint4,window=4", "mxint4"}), "window");
  refuses(packed(tokens, {"int8/channel", "int8/token,calib=p99"}), "int8/token");
  store::PackedModel changes = packed(tokens, mxint4);
  changes.plan.layers.back().delta = true;
  refuses(changes, "changes of inputs are quantized");
  EXPECT_ERROR(make_integer_reasoner(packed(tokens, mxint4), {.type = TorchType::BF16}),
               ErrorCode::InvalidArgument, "expected f32");
}

TEST(EmulatedIntegers, NameTheBoardWhoseValuesAreNotFinite) {
  const model::ModelConfig config = config_named("TrmTokens");
  const auto reasoner =
      make_integer_reasoner(packed(config, {"mxint4,window=4", "mxint4,window=4"}), {.slots = 2});
  const auto tokens = models::random_tokens(config, 1);
  for (const int64_t slot : {0, 1}) reasoner->reset(slot, {.tokens = tokens, .number = 7 + slot});
  const reason::States states = reasoner->states(1);
  std::vector<float> h(states.h.begin(), states.h.end());
  const std::vector<float> l(states.l.begin(), states.l.end());
  h[3] = std::numeric_limits<float>::infinity();
  reasoner->set_states(1, {.h = h, .l = l});
  EXPECT_ERROR(reasoner->step(std::vector<int64_t>{0, 1}), ErrorCode::Numeric,
               "board 8, layer 'L_level.layers.0.mlp_t.gate_up_proj.weight', call 0");
}

}  // namespace
}  // namespace driftless::lab
