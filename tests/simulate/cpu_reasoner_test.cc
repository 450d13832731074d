// SPDX-License-Identifier: Apache-2.0
#include "driftless/simulate/cpu_reasoner.h"

#include <map>
#include <set>

#include <gtest/gtest.h>

#include "driftless/model/presets.h"
#include "driftless/model/schedule.h"

#include "tests/simulate/random_model.h"
#include "tests/testing/expect_error.h"

namespace driftless::simulate {
namespace {

using Outputs = std::vector<std::vector<float>>;

constexpr int64_t kBoards = 3;
constexpr int64_t kSteps = 2;

std::vector<float> outputs_of(const reason::Reasoner& reasoner, int64_t slot) {
  const reason::Readout readout = reasoner.read(slot);
  std::vector<float> outputs(readout.logits.begin(), readout.logits.end());
  outputs.push_back(readout.halt_logit);
  return outputs;
}

/// The boards in groups of `slots` at a time.
Outputs run_boards(const store::Checkpoint& checkpoint, const CpuOptions& options) {
  const auto reasoner = make_cpu_reasoner(checkpoint, options);
  Outputs outputs;
  for (int64_t first = 0; first < kBoards; first += options.slots) {
    std::vector<int64_t> slots;
    for (int64_t board = first; board < std::min(kBoards, first + options.slots); ++board) {
      const auto seed = static_cast<uint64_t>(board);
      const auto tokens = testing::random_tokens(checkpoint.config, seed);
      slots.push_back(board - first);
      reasoner->reset(slots.back(), {.tokens = tokens, .seed = seed});
    }
    for (int64_t step = 0; step < kSteps; ++step) reasoner->step(slots);
    for (const int64_t slot : slots) outputs.push_back(outputs_of(*reasoner, slot));
  }
  return outputs;
}

class Model : public ::testing::TestWithParam<testing::NamedConfig> {};

TEST_P(Model, NeitherThreadsNorBatchChangeABit) {
  const store::Checkpoint checkpoint = testing::random_checkpoint(GetParam().config, 3);
  for (const auto& dtype : kDtypeNames) {
    const Outputs alone = run_boards(checkpoint, {1, 1, dtype.value});
    // Shared parts of one board, boards and parts in turn, groups of boards, one board per thread.
    for (const auto& [slots, threads] : {std::pair{1, 2}, {2, 2}, {3, 1}, {3, 3}})
      EXPECT_EQ(run_boards(checkpoint, {slots, threads, dtype.value}), alone)
          << slots << " slots, " << threads << " threads, " << dtype.name;
  }
}

TEST_P(Model, StatesCarriedToAnotherSlotContinueTheSamePath) {
  const model::ModelConfig& config = GetParam().config;
  if (model::architecture(config).draws_noise())
    GTEST_SKIP() << "the noise is no part of the states";
  const auto reasoner = make_cpu_reasoner(testing::random_checkpoint(config, 3), {.slots = 2});
  const auto tokens = testing::random_tokens(config, 1);
  for (const int64_t slot : {0, 1}) reasoner->reset(slot, {.tokens = tokens});
  reasoner->step(std::vector<int64_t>{0});
  reasoner->set_states(1, reasoner->states(0));
  reasoner->step(std::vector<int64_t>{0, 1});
  EXPECT_EQ(outputs_of(*reasoner, 0), outputs_of(*reasoner, 1));
}

/// Which rows of which layer were seen in which call.
struct CountingObserver : reason::StepObserver {
  [[nodiscard]] bool wants(reason::Point) const override { return true; }
  void observe(const reason::Observation& seen) override {
    ++points[seen.point];
    if (seen.point == reason::Point::LinearInput)
      rows[{std::string(seen.layer), seen.call}] += seen.values.rows;
  }
  std::map<reason::Point, int64_t> points;
  std::map<std::pair<std::string, int64_t>, int64_t> rows;
};

TEST_P(Model, ObserverSeesEveryLinearLayerOfEveryCall) {
  const model::ModelConfig& config = GetParam().config;
  const auto reasoner = make_cpu_reasoner(testing::random_checkpoint(config, 3), {.slots = 1});
  reasoner->reset(0, {.tokens = testing::random_tokens(config, 1)});
  CountingObserver seen;
  reasoner->step(std::vector<int64_t>{0}, &seen);
  const std::vector<model::NetworkCall> calls = model::schedule(config);
  const int64_t last = std::ssize(calls) - 1;
  int64_t expected_layers = 2;
  for (int64_t call = 0; call <= last; ++call) {
    const auto network =
        model::networks(config)[static_cast<size_t>(calls[static_cast<size_t>(call)].network)];
    for (const model::ParamSpec& spec : model::parameters(config)) {
      if (!spec.name.starts_with(network.name + ".")) continue;
      const bool mixes_tokens = spec.name.find(".mlp_t.") != std::string::npos;
      const int64_t rows = mixes_tokens ? config.hidden_size : model::positions_count(config);
      EXPECT_EQ((seen.rows[{spec.name, call}]), rows) << spec.name << " in call " << call;
      ++expected_layers;
    }
  }
  EXPECT_EQ((seen.rows[{"lm_head.weight", last}]), config.seq_len);
  EXPECT_EQ((seen.rows[{"q_head.weight", last}]), 1);
  EXPECT_EQ(std::ssize(seen.rows), expected_layers);
  EXPECT_EQ(seen.points[reason::Point::StateH], config.h_cycles);
  EXPECT_EQ(seen.points[reason::Point::StateL], config.h_cycles * config.l_cycles);
  EXPECT_EQ(seen.points[reason::Point::Logits], 1);
  EXPECT_EQ(seen.points[reason::Point::HaltLogits], 1);
}

INSTANTIATE_TEST_SUITE_P(All, Model, ::testing::ValuesIn(testing::named_configs()),
                         [](const auto& param) { return param.param.name; });

TEST(CpuReasoner, SeedsMatterWhereTheModelDrawsNoise) {
  for (const testing::NamedConfig& named : testing::named_configs()) {
    const auto reasoner =
        make_cpu_reasoner(testing::random_checkpoint(named.config, 3), {.slots = 2});
    const auto tokens = testing::random_tokens(named.config, 1);
    reasoner->reset(0, {.tokens = tokens, .seed = 1});
    reasoner->reset(1, {.tokens = tokens, .seed = 2});
    reasoner->step(std::vector<int64_t>{0, 1});
    const bool is_equal = outputs_of(*reasoner, 0) == outputs_of(*reasoner, 1);
    EXPECT_EQ(is_equal, !model::architecture(named.config).draws_noise()) << named.name;
  }
}

TEST(CpuReasoner, CountsTheWorkOfThePublishedModel) {
  // Block applications of 305.1 MMAC, 42 a step: 12.82 GMAC, and 0.0004 for the heads.
  const model::ModelConfig config = model::find_preset("trm-sudoku-mlp").config;
  EXPECT_NEAR(static_cast<double>(step_flops(config)) / 2e9, 12.82, 0.01);
}

TEST(CpuReasoner, RejectsBadInput) {
  const model::ModelConfig config = testing::named_configs()[4].config;  // has prefix rows
  store::Checkpoint checkpoint = testing::random_checkpoint(config, 3);
  const auto reasoner = make_cpu_reasoner(checkpoint, {.slots = 2});
  std::vector<uint8_t> tokens = testing::random_tokens(config, 1);
  const auto code = ErrorCode::InvalidArgument;
  const std::vector<int64_t> slots = {0};
  EXPECT_ERROR(reasoner->step(slots), code, "no board");
  EXPECT_ERROR(static_cast<void>(reasoner->states(0)), code, "no board");
  EXPECT_ERROR(reasoner->set_states(2, {}), code, "expected 0 to 1");
  EXPECT_ERROR(reasoner->reset(2, {.tokens = tokens}), code, "expected 0 to 1");
  EXPECT_ERROR(reasoner->reset(0, {.tokens = tokens, .puzzle = 3}), code, "puzzle row 3");
  reasoner->reset(0, {.tokens = tokens});
  EXPECT_ERROR(reasoner->step(std::vector<int64_t>{0, 0}), code, "twice");
  EXPECT_ERROR(static_cast<void>(reasoner->read(0)), code, "no step");
  EXPECT_ERROR(reasoner->set_states(0, {}), code, "got 0 values");
  tokens[5] = 7;
  EXPECT_ERROR(reasoner->reset(0, {.tokens = tokens}), code, "cell 5");
  tokens.pop_back();
  EXPECT_ERROR(reasoner->reset(0, {.tokens = tokens}), code, "96 cells, expected 97");
  EXPECT_ERROR(make_cpu_reasoner(checkpoint, {.slots = 0}), code, "slots; got 0");
  EXPECT_ERROR(make_cpu_reasoner(checkpoint, {.slots = 1, .threads = 0}), code, "threads; got 0");
  checkpoint.tensors.erase("lm_head.weight");
  EXPECT_ERROR(make_cpu_reasoner(checkpoint, {}), ErrorCode::BadFile, "lm_head.weight");
}

}  // namespace
}  // namespace driftless::simulate
