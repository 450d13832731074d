// SPDX-License-Identifier: Apache-2.0
#include "driftless/cli/evaluation.h"

#include <cmath>
#include <csignal>

#include <gtest/gtest.h>

#include "driftless/cli/terminal/interrupt.h"
#include "driftless/task/arc/rows.h"
#include "driftless/task/maze/board.h"

#include "tests/cli/answer_reasoner.h"

namespace driftless::cli {
namespace {

namespace arc = task::arc;
using cli_testing::AnswerReasoner;
using cli_testing::Prepared;

const EvaluateOptions kFixed{.halting = reason::find_halting("fixed"), .max_steps = 1};

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

arc::Grid dot(uint8_t colour) { return {.extent = {.rows = 1, .columns = 1}, .cells = {colour}}; }

struct Vote {
  uint8_t answer;  // in the colours of the task itself
  float halt_logit;
};

TEST(EvaluateArc, VariantsVoteAndTheKnownWinnerWins) {
  const std::vector<std::string> names = {"<blank>",
                                          "sure",
                                          "task|||t0|||0213456789",
                                          "task|||t3|||0132456789",
                                          "task",
                                          "task|||t5|||0123546789",
                                          "task|||t7|||0987654321"};
  // By puzzle row. Answer 3 (right) gets two votes, 5 two surer ones, 4 a single very sure one.
  const std::vector<Vote> votes = {{0, 0}, {9, 0}, {3, -2}, {5, 0}, {4, 9}, {3, -4}, {5, 1}};
  const std::vector<arc::Puzzle> puzzles = {
      {.name = "task", .train = {}, .test = {{.input = dot(2), .output = dot(3)}}},
      {.name = "sure", .train = {}, .test = {{.input = dot(1), .output = dot(9)}}},
      {.name = "open", .train = {}, .test = {{.input = dot(1), .output = dot(9)}}}};
  const arc::Identifiers identifiers(names, "list");
  const auto rows = arc::rows(puzzles, identifiers, {.side = 5});
  AnswerReasoner reasoner(12, 25, [&](const reason::Board& board) {
    const auto row = static_cast<size_t>(board.puzzle);
    const arc::Variant variant = arc::parse_variant_name(names[row]).variant;
    EXPECT_EQ(arc::undo(variant, arc::crop(board.tokens)), dot(row == 1 ? 1 : 2));
    return Prepared{.tokens = arc::encode(arc::apply(variant, dot(votes[row].answer)), {.side = 5}),
                    .halt_logit = votes[row].halt_logit};
  });
  const Evaluation result = evaluate(reasoner, task::find_task("arc"), rows, kFixed);
  const arc::Ballot ballot = count_votes(rows, result.answers);
  const auto ranked = ballot.rank("task", dot(2));
  ASSERT_EQ(ranked.size(), 3u);
  EXPECT_EQ(ranked[0].grid, dot(5));
  EXPECT_EQ(ranked[1].grid, dot(3));
  EXPECT_EQ(ranked[2].grid, dot(4));

  const ArcScore score = score_arc(puzzles, rows, result.answers, ballot);
  ASSERT_EQ(score.pass.size(), 3u) << "1, 2 and 5: an input has five boards";
  // "task" needs two attempts, "sure" one, "open" has no row and misses.
  EXPECT_EQ(score.pass[0].puzzles, (task::Share{.hits = 1, .n = 3}));
  EXPECT_EQ(score.pass[1].puzzles, (task::Share{.hits = 2, .n = 3}));
  EXPECT_EQ(score.pass[2].k, 5);
  EXPECT_EQ(score.exact.n, 2);
  EXPECT_NEAR(score.exact.mean(), (2.0 / 5 + 1) / 2, 1e-15);
  EXPECT_EQ(ballot.submission(std::span(puzzles).first(1)),
            R"({"task":[{"attempt_1":[[5]],"attempt_2":[[3]]}]})");
}

TEST(Evaluate, StopsAtCtrlC) {
  const std::vector<task::Example> boards(9, maze("SG  ", "SG  "));
  int64_t started = 0;
  AnswerReasoner reasoner(6, 4, [&](const reason::Board& board) {
    if (++started == 4) std::raise(SIGINT);
    return Prepared{.tokens = {board.tokens.begin(), board.tokens.end()}};
  });
  try {
    const InterruptGuard guard;
    evaluate(reasoner, task::find_task("maze"), boards, kFixed);
    FAIL() << "not interrupted";
  } catch (const Interrupted& stop) {
    EXPECT_STREQ(stop.what(), "interrupted after 3 of 9 boards (3 exact); nothing was written");
  }
  EXPECT_EQ(started, 4);
  EXPECT_FALSE(was_interrupted()) << "the guard is gone";
}

}  // namespace
}  // namespace driftless::cli
