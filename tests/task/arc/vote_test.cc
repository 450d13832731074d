// SPDX-License-Identifier: Apache-2.0
#include "driftless/task/arc/vote.h"

#include <cmath>

#include <gtest/gtest.h>

#include "driftless/task/arc/augment.h"

#include "tests/task/arc/random_puzzle.h"
#include "tests/testing/expect_error.h"

namespace driftless::task::arc {
namespace {

using driftless::testing::expect_error;

Grid cell(uint8_t color) { return {.extent = {.rows = 1, .columns = 1}, .cells = {color}}; }

/// A vote for `answer` to `input`, cast through a random variant of the task.
void cast(Ballot& ballot, const Grid& input, const Grid& answer, double logit, Rng& rng) {
  const Variant variant = random_variant(rng);
  ballot.add(variant_name("task", variant), encode(apply(variant, input), {.side = 5}),
             encode(apply(variant, answer), {.side = 5}), logit);
}

Puzzle two_tests() {
  return {.name = "task",
          .train = {},
          .test = {{.input = cell(1), .output = cell(3)}, {.input = cell(2), .output = cell(9)}}};
}

TEST(ArcVote, CountComesFirstAndHaltProbabilityBreaksTies) {
  Rng rng(1);
  Ballot ballot;
  cast(ballot, cell(1), cell(4), 9, rng);   // one very sure vote
  cast(ballot, cell(1), cell(3), -2, rng);  // two unsure votes
  cast(ballot, cell(1), cell(3), -4, rng);
  cast(ballot, cell(1), cell(5), 0, rng);  // two votes, surer on average
  cast(ballot, cell(1), cell(5), 1, rng);
  const auto ranked = ballot.rank("task", cell(1));
  ASSERT_EQ(ranked.size(), 3u);
  EXPECT_EQ(ranked[0].grid, cell(5));
  EXPECT_EQ(ranked[1].grid, cell(3));
  EXPECT_EQ(ranked[2].grid, cell(4));
  EXPECT_EQ(ranked[0].votes, 2);
  EXPECT_DOUBLE_EQ(ranked[0].mean_halt, (0.5 + 1 / (1 + std::exp(-1.0))) / 2);
  EXPECT_TRUE(ballot.rank("task", cell(7)).empty());
  EXPECT_TRUE(ballot.rank("other", cell(1)).empty());
}

TEST(ArcVote, PassAtKCountsInputsAndTasks) {
  Rng rng(2);
  Ballot ballot;
  cast(ballot, cell(1), cell(5), 0, rng);
  cast(ballot, cell(1), cell(5), 0, rng);
  cast(ballot, cell(1), cell(3), 0, rng);  // right, second place
  cast(ballot, cell(2), cell(9), 0, rng);  // right, first place
  Puzzle unseen = two_tests();
  unseen.name = "unseen";
  Puzzle unknown{
      .name = "unknown", .train = {}, .test = {{.input = cell(1), .output = std::nullopt}}};
  const std::vector<Puzzle> puzzles = {two_tests(), unseen, unknown};
  const std::vector<int64_t> ks = {1, 2, 1000};
  const auto rates = ballot.score(puzzles, ks);
  ASSERT_EQ(rates.size(), 3u);
  EXPECT_EQ(rates[0].inputs, (Share{.hits = 1, .n = 4}));
  EXPECT_EQ(rates[0].puzzles, (Share{.hits = 0, .n = 2}));
  EXPECT_DOUBLE_EQ(rates[0].puzzle_mean, 0.25);
  EXPECT_EQ(rates[1].inputs, (Share{.hits = 2, .n = 4}));
  EXPECT_EQ(rates[1].puzzles, (Share{.hits = 1, .n = 2}));
  EXPECT_DOUBLE_EQ(rates[1].puzzle_mean, 0.5);
  EXPECT_EQ(rates[2].inputs, rates[1].inputs);
  expect_error(ErrorCode::InvalidArgument, "bad K",
               [&] { return ballot.score(puzzles, std::vector<int64_t>{0}); });
}

TEST(ArcVote, SubmissionHasTwoAttemptsForEachInput) {
  Rng rng(3);
  Ballot ballot;
  const Grid wide{.extent = {.rows = 1, .columns = 2}, .cells = {6, 7}};
  cast(ballot, cell(1), wide, 3, rng);
  EXPECT_EQ(ballot.submission(std::vector<Puzzle>{two_tests()}),
            R"({"task":[{"attempt_1":[[6,7]],"attempt_2":[[6,7]]},)"
            R"({"attempt_1":[[0]],"attempt_2":[[0]]}]})");
  cast(ballot, cell(1), cell(8), 4, rng);
  EXPECT_EQ(ballot.submission(
                std::vector<Puzzle>{{.name = "task", .train = {}, .test = {two_tests().test[0]}}}),
            R"({"task":[{"attempt_1":[[8]],"attempt_2":[[6,7]]}]})");
  EXPECT_EQ(ballot.submission({}), "{}");
  Ballot empty;
  const std::vector<uint8_t> nothing(25, 0);
  empty.add("task", encode(cell(1), {.side = 5}), nothing, 0);
  EXPECT_EQ(empty.submission(
                std::vector<Puzzle>{{.name = "task", .train = {}, .test = {two_tests().test[0]}}}),
            R"({"task":[{"attempt_1":[],"attempt_2":[]}]})");
}

TEST(ArcVote, EmptyPredictionsAreVotesToo) {
  Ballot ballot;
  const std::vector<uint8_t> nothing(25, 0);
  ballot.add("task", encode(cell(1), {.side = 5}), nothing, 0);
  const auto ranked = ballot.rank("task", cell(1));
  ASSERT_EQ(ranked.size(), 1u);
  EXPECT_EQ(ranked[0].grid, Grid{});
}

TEST(ArcVote, WrongRowsAreErrors) {
  Ballot ballot;
  const std::vector<uint8_t> canvas(25, 2);
  expect_error(ErrorCode::Numeric, "not a number",
               [&] { ballot.add("task", canvas, canvas, std::nan("")); });
  expect_error(ErrorCode::InvalidArgument, "bad variant name",
               [&] { ballot.add("task|||x", canvas, canvas, 0); });
  expect_error(ErrorCode::InvalidArgument, "not a square",
               [&] { ballot.add("task", canvas, std::vector<uint8_t>(24), 0); });
}

}  // namespace
}  // namespace driftless::task::arc
