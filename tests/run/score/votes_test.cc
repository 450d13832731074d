// SPDX-License-Identifier: Apache-2.0
#include "driftless/run/score/votes.h"

#include <gtest/gtest.h>

#include "driftless/run/score/evaluation.h"
#include "driftless/task/arc/rows.h"

#include "tests/run/answer_reasoner.h"

namespace driftless::run {
namespace {

namespace arc = task::arc;
using testing::AnswerReasoner;
using testing::Prepared;

arc::Grid dot(uint8_t color) { return {.extent = {.rows = 1, .columns = 1}, .cells = {color}}; }

struct Vote {
  uint8_t answer;  // in the colors of the task itself
  float halt_logit;
};

TEST(Votes, VariantsVoteAndTheKnownWinnerWins) {
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
  const Evaluation result = evaluate(reasoner, task::find_task("arc"), rows,
                                     {.halting = reason::find_halting("fixed"), .max_steps = 1});
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

}  // namespace
}  // namespace driftless::run
