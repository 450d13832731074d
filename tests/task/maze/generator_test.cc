// SPDX-License-Identifier: Apache-2.0
#include "driftless/task/maze/generator.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "driftless/task/maze/path.h"

#include "tests/testing/expect_error.h"

namespace driftless::task::maze {
namespace {

using driftless::testing::expect_error;

int64_t open_count(const Board& board) {
  return board.size() - std::count(board.cells.begin(), board.cells.end(), kWall);
}

TEST(MazeGenerator, ScatteredBoardsHaveLongLabeledPaths) {
  Rng rng(1);
  for (int64_t i = 0; i < 3; ++i) {
    const Puzzle puzzle = generate({}, rng);
    EXPECT_EQ(puzzle.question.side, 30);
    EXPECT_GE(puzzle.path_cells, 110);
    EXPECT_EQ(label(puzzle.question), puzzle);
    EXPECT_EQ(std::count(puzzle.answer.cells.begin(), puzzle.answer.cells.end(), kPath),
              puzzle.path_cells - 2);
  }
}

TEST(MazeGenerator, PerfectBoardsAreTrees) {
  for (const int64_t side : {7, 8, 30}) {
    Rng rng(5);
    const Puzzle puzzle = generate(
        {.kind = Kind::Perfect, .side = side, .min_path_cells = side, .max_path_cells = 5 * side},
        rng);
    EXPECT_GE(puzzle.path_cells, side);
    EXPECT_LE(puzzle.path_cells, 5 * side);
    // Connected, with one link less than cells: a tree, so every path is the only one.
    const Board& board = puzzle.question;
    const Reach reach = reach_from(board, 0);
    int64_t links = 0;
    for (int64_t cell = 0; cell < board.size(); ++cell) {
      if (board.at(cell) == kWall) continue;
      EXPECT_GE(reach.distance[static_cast<size_t>(cell)], 0);
      if (cell % side + 1 < side && board.at(cell + 1) != kWall) ++links;
      if (cell + side < board.size() && board.at(cell + side) != kWall) ++links;
    }
    EXPECT_EQ(links, open_count(board) - 1);
    const int64_t rooms = (side + 1) / 2;
    EXPECT_EQ(open_count(board), 2 * rooms * rooms - 1);
  }
}

TEST(MazeGenerator, SameSeedSameBoard) {
  const GeneratorOptions small{.side = 9, .min_path_cells = 8};
  Rng a(3);
  Rng b(3);
  Rng c(4);
  const Puzzle first = generate(small, a);
  EXPECT_EQ(first, generate(small, b));
  EXPECT_NE(first, generate(small, c));
}

TEST(MazeGenerator, WrongOptionsAreErrors) {
  Rng rng(1);
  expect_error(ErrorCode::InvalidArgument, "bad side", [&] { generate({.side = 1}, rng); });
  expect_error(ErrorCode::InvalidArgument, "bad side", [&] { generate({.side = 1001}, rng); });
  expect_error(ErrorCode::InvalidArgument, "empty range",
               [&] { generate({.min_path_cells = 9, .max_path_cells = 8}, rng); });
  expect_error(ErrorCode::InvalidArgument, "too long",
               [&] { generate({.side = 5, .min_path_cells = 26}, rng); });
  expect_error(ErrorCode::InvalidArgument, "shorter paths",
               [&] { generate({.side = 5, .min_path_cells = 25, .max_attempts = 10}, rng); });
}

}  // namespace
}  // namespace driftless::task::maze
