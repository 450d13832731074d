// SPDX-License-Identifier: Apache-2.0
#include "driftless/reason/run.h"

#include <array>
#include <map>
#include <numeric>

#include <gtest/gtest.h>

#include "tests/reason/scripted_reasoner.h"
#include "tests/testing/expect_error.h"

namespace driftless::reason {
namespace {

using Tokens = std::array<uint8_t, 4>;

/// {halt step, last step that changes the answer}
constexpr std::array<Tokens, 5> kScripts = {{{2, 1}, {5, 4}, {1, 1}, {9, 2}, {3, 3}}};

struct Result {
  std::map<int64_t, Answer> answers;
  std::vector<int64_t> order;
  std::vector<int64_t> batch_sizes;
};

Result run_scripts(std::string_view policy, int64_t slots, int64_t max_steps) {
  testing::ScriptedReasoner reasoner(slots);
  std::vector<Board> boards;
  for (const Tokens& script : kScripts) boards.push_back({.tokens = script});
  Result result;
  run(reasoner, boards, {.halting = find_halting(policy), .max_steps = max_steps},
      [&](int64_t board, const Answer& answer) {
        result.answers[board] = answer;
        result.order.push_back(board);
      });
  result.batch_sizes = reasoner.batch_sizes;
  return result;
}

TEST(Run, FixedGivesEveryBoardAllSteps) {
  for (const int64_t slots : {1, 2, 5, 8}) {
    const Result result = run_scripts("fixed", slots, 6);
    ASSERT_EQ(result.answers.size(), kScripts.size());
    for (const auto& [board, answer] : result.answers) {
      EXPECT_EQ(answer.steps, 6);
      const uint8_t expected = kScripts[static_cast<size_t>(board)][1];
      EXPECT_EQ(answer.tokens, std::vector<uint8_t>(4, expected));
    }
  }
}

TEST(Run, HaltStopsWhereTheModelWantsTo) {
  const Result result = run_scripts("halt", 2, 6);
  const std::array<int64_t, 5> expected = {2, 5, 1, 6, 3};
  for (const auto& [board, answer] : result.answers)
    EXPECT_EQ(answer.steps, expected[static_cast<size_t>(board)]) << board;
}

TEST(Run, StableStopsAfterTwoUnchangedSteps) {
  const Result result = run_scripts("stable", 3, 6);
  const std::array<int64_t, 5> expected = {3, 6, 3, 4, 5};
  for (const auto& [board, answer] : result.answers)
    EXPECT_EQ(answer.steps, expected[static_cast<size_t>(board)]) << board;
}

TEST(Run, FreeSlotsTakeNewBoards) {
  // Steps 2, 5, 1, 6, 3 over two slots. Slot 0 holds board 0 for 2 steps, 2 for 1, 3 for 6; slot 1
  // holds board 1 for 5 and board 4 for 3. No step runs a finished board.
  const Result result = run_scripts("halt", 2, 6);
  EXPECT_EQ(result.order, (std::vector<int64_t>{0, 2, 1, 4, 3}));
  EXPECT_EQ(result.batch_sizes, (std::vector<int64_t>{2, 2, 2, 2, 2, 2, 2, 2, 1}));
}

TEST(Run, ShowsEveryStep) {
  testing::ScriptedReasoner reasoner(1);
  const std::vector<Board> boards = {{.tokens = kScripts[1]}};
  std::vector<int64_t> seen;
  run(
      reasoner, boards, {.halting = find_halting("halt"), .max_steps = 16},
      [](int64_t, const Answer&) {},
      [&](int64_t, const Answer& answer) { seen.push_back(answer.tokens[0]); });
  EXPECT_EQ(seen, (std::vector<int64_t>{1, 2, 3, 4, 4}));
}

/// Steps that one board takes whose halt logit is as given, step by step.
int64_t steps_with(const model::ModelConfig& halting, std::vector<float> logits) {
  testing::ScriptedReasoner reasoner(1);
  model::ModelConfig& config = reasoner.config_to_change();
  config.halt_confirm_steps = halting.halt_confirm_steps;
  config.halt_confirm_mode = halting.halt_confirm_mode;
  reasoner.halt_logits = std::move(logits);
  const std::vector<Board> boards = {{.tokens = kScripts[0]}};
  int64_t steps = 0;
  run(reasoner, boards, {.halting = find_halting("halt"), .max_steps = 6},
      [&](int64_t, const Answer& answer) { steps = answer.steps; });
  return steps;
}

TEST(Run, HaltWaitsForTheStepsThatConfirmIt) {
  const std::vector<float> logits = {1, -1, 1, 1, 1, -1};
  EXPECT_EQ(steps_with({}, logits), 1);
  EXPECT_EQ(steps_with({.halt_confirm_steps = 1}, logits), 4);
  EXPECT_EQ(steps_with({.halt_confirm_steps = 2}, logits), 5);
  EXPECT_EQ(steps_with({.halt_confirm_steps = 3}, logits), 6);
  EXPECT_EQ(
      steps_with({.halt_confirm_steps = 2, .halt_confirm_mode = model::HaltConfirm::Cumulative},
                 logits),
      4);
}

TEST(Run, ShowsTheLastReadoutOfEachBoard) {
  testing::ScriptedReasoner reasoner(2);
  std::vector<Board> boards;
  for (const Tokens& script : kScripts) boards.push_back({.tokens = script});
  std::map<int64_t, float> logits;
  run(reasoner, boards,
      {.halting = find_halting("fixed"),
       .max_steps = 3,
       .on_last_readout = [&](int64_t board,
                              const Readout& readout) { logits[board] = readout.halt_logit; }},
      [&](int64_t board, const Answer& answer) { EXPECT_EQ(logits.at(board), answer.halt_logit); });
  EXPECT_EQ(logits.size(), kScripts.size());
}

TEST(Run, NoBoardsIsNoWork) {
  testing::ScriptedReasoner reasoner(2);
  run(reasoner, {}, {.halting = find_halting("fixed"), .max_steps = 1},
      [](int64_t, const Answer&) { ADD_FAILURE(); });
  EXPECT_TRUE(reasoner.batch_sizes.empty());
}

TEST(Run, RejectsBadInput) {
  testing::ScriptedReasoner reasoner(1);
  const std::vector<Board> boards = {{.tokens = kScripts[1]}};
  const auto ignore = [](int64_t, const Answer&) {};
  EXPECT_ERROR(run(reasoner, boards, {.halting = find_halting("fixed"), .max_steps = 0}, ignore),
               ErrorCode::InvalidArgument, "at least 1");
  reasoner.makes_nan = true;
  EXPECT_ERROR(run(reasoner, boards, {.halting = find_halting("fixed"), .max_steps = 1}, ignore),
               ErrorCode::Numeric, "step 1");
  EXPECT_ERROR(find_halting("fixd"), ErrorCode::InvalidArgument, "did you mean 'fixed'");
}

TEST(HaltScore, FollowsTheRuleOfTraining) {
  const Readout readout{.logits = {}, .halt_logit = -1, .continue_logit = -3};
  model::ModelConfig config;
  EXPECT_EQ(halt_score(config, readout), -1);
  config.halt_threshold = -2;
  EXPECT_EQ(halt_score(config, readout), 1);
  EXPECT_TRUE(wants_halt(config, readout));
  config.halt_rule = model::HaltRule::Never;
  EXPECT_FALSE(wants_halt(config, readout));
  config.halt_rule = model::HaltRule::Lead;
  config.halt_threshold = 0.5;
  EXPECT_EQ(halt_score(config, readout), 1.5);
  config = {.arch = model::Arch::Hrm};
  EXPECT_EQ(halt_score(config, readout), 2);
}

}  // namespace
}  // namespace driftless::reason
