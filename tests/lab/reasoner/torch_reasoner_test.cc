// SPDX-License-Identifier: Apache-2.0
// The seam's own promises; tests/parity compares the numbers with the CPU engine's.
#include "driftless/lab/reasoner/torch_reasoner.h"

#include <gtest/gtest.h>

#include "driftless/reason/plan/linear_layers.h"
#include "driftless/reason/run.h"

#include "tests/simulate/random_model.h"
#include "tests/testing/expect_error.h"

namespace driftless::lab {
namespace {

namespace models = simulate::testing;

model::ModelConfig config_named(const std::string& name) {
  for (const models::NamedConfig& named : models::named_configs())
    if (named.name == name) return named.config;
  fail(ErrorCode::Internal, "no model '", name, "'");
}

TEST(TorchReasoner, RefillsSlotsWithTheSameAnswers) {
  const store::Checkpoint checkpoint = models::random_checkpoint(config_named("EqrTokens"), 3);
  std::vector<std::vector<uint8_t>> tokens;
  std::vector<reason::Board> boards;
  for (uint64_t i = 0; i < 5; ++i) tokens.push_back(models::random_tokens(checkpoint.config, i));
  for (uint64_t i = 0; i < 5; ++i) boards.push_back({.tokens = tokens[i], .seed = i});
  const auto answers = [&](int64_t slots) {
    std::vector<std::vector<uint8_t>> all(boards.size());
    const auto reasoner = make_torch_reasoner(checkpoint, {.slots = slots});
    reason::run(*reasoner, boards, {.halting = reason::find_halting("fixed"), .max_steps = 2},
                [&](int64_t board, const reason::Answer& answer) {
                  all[static_cast<size_t>(board)] = answer.tokens;
                });
    return all;
  };
  const auto alone = answers(1);
  EXPECT_EQ(answers(2), alone);
  EXPECT_EQ(answers(8), alone);
}

/// States and logits of a slot.
std::vector<float> outputs_of(const reason::Reasoner& reasoner, int64_t slot) {
  const reason::States states = reasoner.states(slot);
  const std::span<const float> logits = reasoner.read(slot).logits;
  std::vector<float> all(states.h.begin(), states.h.end());
  all.insert(all.end(), states.l.begin(), states.l.end());
  all.insert(all.end(), logits.begin(), logits.end());
  return all;
}

TEST(TorchReasoner, SumsOfChangesBelongToTheBoardInASlot) {
  for (const char* name : {"TrmTokens", "TrmAttentionRopePrefix"}) {
    const store::Checkpoint checkpoint = models::random_checkpoint(config_named(name), 3);
    const quant::QuantPlan plan = quant::resolve({.weights = quant::parse_quant_spec("mxint4"),
                                                  .acts = quant::parse_quant_spec("mxint4"),
                                                  .delta = true},
                                                 reason::linear_layers(checkpoint.config));
    std::vector<std::vector<uint8_t>> tokens;
    for (uint64_t i = 0; i < 3; ++i) tokens.push_back(models::random_tokens(checkpoint.config, i));
    // The same two boards run together, alone or in slots that others had before, between steps of
    // others.
    const auto alone = make_torch_reasoner(checkpoint, {.slots = 2, .plan = &plan});
    const auto among = make_torch_reasoner(checkpoint, {.slots = 4, .plan = &plan});
    for (const int64_t slot : {0, 1, 2, 3}) among->reset(slot, {.tokens = tokens[2]});
    among->step(std::vector<int64_t>{0, 1, 2, 3});
    alone->reset(0, {.tokens = tokens[0]});
    alone->reset(1, {.tokens = tokens[1]});
    among->reset(3, {.tokens = tokens[0]});
    among->reset(1, {.tokens = tokens[1]});
    for (int step = 1; step <= 2; ++step) {
      alone->step(std::vector<int64_t>{0, 1});
      among->step(std::vector<int64_t>{3, 1});
      EXPECT_EQ(outputs_of(*among, 3), outputs_of(*alone, 0)) << name << ", step " << step;
      EXPECT_EQ(outputs_of(*among, 1), outputs_of(*alone, 1)) << name << ", step " << step;
      among->step(std::vector<int64_t>{2, 0});
    }
  }
}

TEST(TorchReasoner, RejectsBadInput) {
  const store::Checkpoint checkpoint =
      models::random_checkpoint(config_named("TrmAttentionRopePrefix"), 3);
  const auto reasoner = make_torch_reasoner(checkpoint, {.slots = 2});
  std::vector<uint8_t> tokens = models::random_tokens(checkpoint.config, 1);
  const auto code = ErrorCode::InvalidArgument;
  EXPECT_ERROR(reasoner->step(std::vector<int64_t>{0}), code, "no board");
  EXPECT_ERROR(reasoner->step(std::vector<int64_t>{2}), code, "expected 0 to 1");
  EXPECT_ERROR(reasoner->reset(-1, {.tokens = tokens}), code, "expected 0 to 1");
  EXPECT_ERROR(reasoner->reset(0, {.tokens = tokens, .puzzle = 3}), code, "puzzle row 3");
  reasoner->reset(0, {.tokens = tokens});
  EXPECT_ERROR(reasoner->step(std::vector<int64_t>{0, 0}), code, "twice");
  EXPECT_ERROR(static_cast<void>(reasoner->read(0)), code, "no step");
  tokens[5] = 7;
  EXPECT_ERROR(reasoner->reset(0, {.tokens = tokens}), code, "cell 5");
}

TEST(TorchReasoner, RejectsBadOptions) {
  store::Checkpoint checkpoint = models::random_checkpoint(config_named("TrmTokens"), 3);
  EXPECT_ERROR(make_torch_reasoner(checkpoint, {.slots = 0}), ErrorCode::InvalidArgument, "slots");
  EXPECT_ERROR(make_torch_reasoner(checkpoint, {.threads = 0}), ErrorCode::InvalidArgument,
               "threads; got 0");
  EXPECT_ERROR(make_torch_reasoner(checkpoint, {.device = "gpu"}), ErrorCode::InvalidArgument,
               "expected cpu or cuda");
  const quant::QuantPlan attention{.attention = quant::AttentionPrecision::Int8};
  EXPECT_ERROR(make_torch_reasoner(checkpoint, {.plan = &attention}), ErrorCode::Unsupported,
               "attention; got int8 on libtorch");
  EXPECT_ERROR(make_torch_reasoner(checkpoint, {.type = TorchType::BF16}), ErrorCode::Unsupported,
               "bf16 on a CPU");
  EXPECT_ERROR(static_cast<void>(parse_torch_type("bf61")), ErrorCode::InvalidArgument,
               "did you mean 'bf16'");
  checkpoint.tensors.erase("lm_head.weight");
  EXPECT_ERROR(make_torch_reasoner(checkpoint, {}), ErrorCode::BadFile, "lm_head.weight");
}

}  // namespace
}  // namespace driftless::lab
