// SPDX-License-Identifier: Apache-2.0
#include "driftless/task/maze/path.h"

#include <bit>

#include <gtest/gtest.h>

#include "driftless/task/maze/csv.h"
#include "driftless/task/maze/generator.h"

#include "tests/testing/expect_error.h"
#include "tests/testing/shared_data.h"

namespace driftless::task::maze {
namespace {

using driftless::testing::expect_error;

Outcome verdict(const Puzzle& puzzle, std::string_view prediction) {
  return check(puzzle, parse_line(prediction).cells);
}

TEST(MazePath, PrefersDownThenLeftThenRightThenUp) {
  // On an open board every monotone way between opposite corners is shortest.
  EXPECT_EQ(to_line(label(parse_line("S       G"))->answer), "S  o  ooG");
  EXPECT_EQ(to_line(label(parse_line("G       S"))->answer), "G  o  ooS");
  EXPECT_EQ(to_line(label(parse_line("  S   G  "))->answer), "  S  oGoo");
  EXPECT_EQ(label(parse_line("S       G"))->path_cells, 5);
}

TEST(MazePath, NeighboringEndsAndClosedWays) {
  const auto beside = label(parse_line("SG  "));
  EXPECT_EQ(beside->path_cells, 2);
  EXPECT_EQ(beside->answer, beside->question);
  EXPECT_FALSE(label(parse_line("S##G")));
  expect_error(ErrorCode::InvalidArgument, "got 2 S", [] { label(parse_line("SSG ")); });
  expect_error(ErrorCode::InvalidArgument, "1 o", [] { label(parse_line("SoG ")); });
}

TEST(MazePath, CheckerTellsOtherShortestPathsFromWrongOnes) {
  const Puzzle puzzle = *label(parse_line("S       G"));
  EXPECT_EQ(verdict(puzzle, "S  o  ooG"), Outcome::Exact);
  EXPECT_EQ(verdict(puzzle, "Soo  o  G"), Outcome::Accepted);
  EXPECT_EQ(verdict(puzzle, "So  oo  G"), Outcome::Accepted);
  EXPECT_EQ(verdict(puzzle, "S       G"), Outcome::Wrong);  // no path
  EXPECT_EQ(verdict(puzzle, "S  o  o G"), Outcome::Wrong);  // a gap
  EXPECT_EQ(verdict(puzzle, "So o  ooG"), Outcome::Wrong);  // a cell too many
  EXPECT_EQ(verdict(puzzle, "So o o  G"), Outcome::Wrong);  // two at one distance
  EXPECT_EQ(verdict(puzzle, "So    ooG"), Outcome::Wrong);  // broken between levels
  EXPECT_EQ(verdict(puzzle, "o  o  ooG"), Outcome::Wrong);  // S overwritten
  EXPECT_EQ(verdict(puzzle, "S #o  ooG"), Outcome::Wrong);  // a wall invented
  std::vector<uint8_t> padded = puzzle.answer.cells;
  padded[1] = 0;
  EXPECT_EQ(check(puzzle, padded), Outcome::Wrong);
  expect_error(ErrorCode::InvalidArgument, "prediction of 4",
               [&] { check(puzzle, std::vector<uint8_t>(4, kOpen)); });
  expect_error(ErrorCode::InvalidArgument, "0 S",
               [&] { check({.question = parse_line("   G")}, std::vector<uint8_t>(4, kOpen)); });
  const Puzzle detour = *label(parse_line("S #    # G #### "));
  EXPECT_EQ(verdict(detour, "S #  oo# G #### "), Outcome::Wrong);
}

/// All shortest paths by brute force: every set of open cells that, as walls were all others, is a
/// chain from S to G of least length. Counts the cell sets the checker accepts.
TEST(MazePath, CheckerAcceptsExactlyTheShortestPaths) {
  Rng rng(3);
  for (int64_t round = 0; round < 6; ++round) {
    const Puzzle puzzle = generate({.side = 4, .min_path_cells = 5}, rng);
    std::vector<size_t> open;
    for (size_t i = 0; i < 16; ++i)
      if (puzzle.question.cells[i] == kOpen) open.push_back(i);
    for (uint32_t set = 0; set < 1u << open.size(); ++set) {
      std::vector<uint8_t> drawn = puzzle.question.cells;
      Board only = puzzle.question;
      for (size_t i = 0; i < open.size(); ++i) {
        const bool chosen = (set >> i & 1) != 0;
        drawn[open[i]] = chosen ? kPath : kOpen;
        only.cells[open[i]] = chosen ? kOpen : kWall;
      }
      // With as many cells as the shortest path has, a connected choice is a shortest path.
      const auto alone = label(only);
      const bool is_shortest = std::popcount(set) == puzzle.path_cells - 2 && alone &&
                               alone->path_cells == puzzle.path_cells;
      ASSERT_EQ(check(puzzle, drawn) != Outcome::Wrong, is_shortest) << to_line(puzzle.question);
    }
  }
}

TEST(MazePath, LabelsEveryMazeHardBoardAsGiven) {
  for (const char* name : {"maze_hard_train.csv", "maze_hard_test.csv"}) {
    const auto path = driftless::testing::shared_path("data/maze") / name;
    DRIFTLESS_NEEDS_FILE(path);
    const auto puzzles = read_puzzles(path);
    EXPECT_GT(puzzles.size(), 500u);
    for (const Puzzle& puzzle : puzzles) ASSERT_EQ(label(puzzle.question), puzzle);
  }
}

}  // namespace
}  // namespace driftless::task::maze
