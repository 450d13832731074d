// SPDX-License-Identifier: Apache-2.0
#include "driftless/task/sudoku/generator.h"

#include <set>

#include <gtest/gtest.h>

#include "driftless/task/sudoku/solver.h"

#include "tests/testing/expect_error.h"

namespace driftless::task::sudoku {
namespace {

using driftless::testing::expect_error;

class SudokuGenerator : public ::testing::TestWithParam<int64_t> {};

TEST_P(SudokuGenerator, BoardsAreUniqueMinimalRatedAndDistinct) {
  Rng rng(11);
  std::set<Board> seen;
  for (int64_t i = 0; i < 40; ++i) {
    const Puzzle puzzle = generate({.box = GetParam()}, rng);
    const Solved solved = solve(puzzle.question);
    ASSERT_EQ(solved.solutions, 1);
    EXPECT_EQ(solved.answer, puzzle.answer);
    EXPECT_EQ(solved.guesses, puzzle.rating);
    EXPECT_TRUE(is_answer(puzzle.question, puzzle.answer));
    for (int64_t cell = 0; cell < puzzle.question.size(); ++cell) {
      if (puzzle.question.at(cell) == 0) continue;
      Board without = puzzle.question;
      without.at(cell) = 0;
      EXPECT_EQ(solve(without).solutions, 2);
    }
    EXPECT_TRUE(seen.insert(puzzle.question).second);
  }
}

INSTANTIATE_TEST_SUITE_P(Boxes, SudokuGenerator, ::testing::Values(2, 3));

TEST(SudokuGeneratorOptions, SameSeedSameBoards) {
  Rng a(3);
  Rng b(3);
  Rng c(4);
  const Puzzle first = generate({}, a);
  EXPECT_EQ(first, generate({}, b));
  EXPECT_NE(first.question, generate({}, c).question);
}

TEST(SudokuGeneratorOptions, FilterKeepsTheRange) {
  Rng rng(1);
  for (int64_t i = 0; i < 10; ++i) {
    const Puzzle puzzle = generate({.min_rating = 2, .max_rating = 6}, rng);
    EXPECT_GE(puzzle.rating, 2);
    EXPECT_LE(puzzle.rating, 6);
  }
}

TEST(SudokuGeneratorOptions, WrongOptionsAreErrors) {
  Rng rng(1);
  expect_error(ErrorCode::InvalidArgument, "box", [&] { generate({.box = 4}, rng); });
  expect_error(ErrorCode::InvalidArgument, "box", [&] { random_full_board(1, rng); });
  expect_error(ErrorCode::InvalidArgument, "empty range",
               [&] { generate({.min_rating = 3, .max_rating = 2}, rng); });
  expect_error(ErrorCode::InvalidArgument, "widen",
               [&] { generate({.min_rating = 1'000'000, .max_attempts = 3}, rng); });
}

}  // namespace
}  // namespace driftless::task::sudoku
