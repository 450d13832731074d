// SPDX-License-Identifier: Apache-2.0
#include "driftless/run/score/evaluation.h"

#include <cmath>
#include <stdexcept>

#include <gtest/gtest.h>

#include "driftless/task/maze/board.h"

#include "tests/run/answer_reasoner.h"

namespace driftless::run {
namespace {

using testing::AnswerReasoner;
using testing::Prepared;

const ScoringOptions kFixed{.halting = reason::find_halting("fixed"), .max_steps = 1};

task::Example maze(const std::string& question, const std::string& answer) {
  return {.name = {},
          .input = task::maze::parse_line(question).cells,
          .label = task::maze::parse_line(answer).cells};
}

TEST(Evaluate, CountsAnotherShortestPathApartFromExact) {
  // S and G in opposite corners of an open 3x3 maze: six shortest paths.
  const std::vector<task::Example> boards(3, maze("S       G", "S  o  ooG"));
  const std::vector<std::string> answers = {"S  o  ooG", "Soo  o  G", "S o    oG"};
  size_t next = 0;
  AnswerReasoner reasoner(6, 9, [&](const reason::Board&) {
    return Prepared{.tokens = task::maze::parse_line(answers[next++]).cells};
  });
  const Evaluation result = evaluate(reasoner, task::find_task("maze"), boards, kFixed);
  EXPECT_EQ(result.score.exact, (task::Share{.hits = 1, .n = 3}));
  EXPECT_EQ(result.score.accepted, (task::Share{.hits = 2, .n = 3}));
  EXPECT_EQ(task::to_text(task::find_task("maze"), result.answers[1].tokens), answers[1]);
  // The heads of a prepared answer: halt logit 0, which says exact; two of three boards are not.
  EXPECT_EQ(result.published.halt_accuracy, (task::Share{.hits = 1, .n = 3}));
  EXPECT_NEAR(result.published.halt_loss.mean(), std::log(2.0), 1e-15);
  // Stablemax of six logits, the chosen one 1 and the others 0: 2/7 and 1/7.
  EXPECT_NEAR(result.published.lm_loss.mean(),
              -(18 * std::log(2.0 / 7) + 9 * std::log(1.0 / 7)) / 27, 1e-15);
  // Cells of the second and third board that differ from the label: 6 and 3 of 9.
  EXPECT_NEAR(result.score.cells.mean(), (9 + 3 + 6) / 27.0, 1e-15);
}

TEST(Evaluate, TellsTheWatchAfterEachStepAndStopsWhereItThrows) {
  const std::vector<task::Example> boards(9, maze("SG  ", "SG  "));
  AnswerReasoner reasoner(6, 4, [](const reason::Board& board) {
    return Prepared{.tokens = {board.tokens.begin(), board.tokens.end()}};
  });
  std::vector<int64_t> told;
  ScoringOptions options = kFixed;
  options.watch = [&](int64_t done, const task::Score& score) {
    EXPECT_EQ(score.exact.hits, done);
    told.push_back(done);
    if (done == 3) throw std::runtime_error("enough");
  };
  EXPECT_THROW(evaluate(reasoner, task::find_task("maze"), boards, options), std::runtime_error);
  EXPECT_EQ(told, (std::vector<int64_t>{0, 1, 2, 3}));
}

}  // namespace
}  // namespace driftless::run
