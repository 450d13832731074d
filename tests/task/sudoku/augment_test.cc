// SPDX-License-Identifier: Apache-2.0
#include "driftless/task/sudoku/augment.h"

#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "driftless/task/sudoku/generator.h"
#include "driftless/task/sudoku/solver.h"

#include "tests/testing/expect_error.h"

namespace driftless::task::sudoku {
namespace {

TEST(SudokuSymmetry, TransposesThenPicksLinesThenRenames) {
  //  1 . | . .      transposed   1 2 . .     columns   2 1 . .    digits      3 4 . .
  //  2 . | . .                   . . . .     0 and 1   . . . .    1 -> 4      . . . .
  //  . . | . 3                   . . . .     swapped   . . . .    2 -> 3      . . . .
  //  . . | . .                   . . 3 .               . . 3 .    3 -> 1      . . 1 .
  const Board board = parse_line("1...2......3....");
  const Symmetry symmetry{.axes = Symmetry::Axes::Swapped,
                          .row_from = {0, 1, 2, 3},
                          .column_from = {1, 0, 2, 3},
                          .digit_to = {0, 4, 3, 1, 2}};
  EXPECT_EQ(to_line(apply(symmetry, board)), "34............1.");
}

class SudokuAugment : public ::testing::TestWithParam<int64_t> {};

TEST_P(SudokuAugment, SymmetriesKeepTheRulesAndTheSolution) {
  const int64_t box = GetParam();
  Rng rng(2);
  std::set<Board> seen;
  const Puzzle puzzle = generate({.box = box}, rng);
  for (int64_t i = 0; i < 200; ++i) {
    const Puzzle other = apply(random_symmetry(box, rng), puzzle);
    ASSERT_TRUE(is_answer(other.question, other.answer));
    EXPECT_EQ(other.question.clue_count(), puzzle.question.clue_count());
    EXPECT_EQ(solve(other.question).solutions, 1);
    seen.insert(other.question);
  }
  EXPECT_GT(seen.size(), 100u);
}

INSTANTIATE_TEST_SUITE_P(Boxes, SudokuAugment, ::testing::Values(2, 3));

TEST(SudokuSymmetry, NeedsABoxSideOfTwoOrThree) {
  Rng rng(1);
  driftless::testing::expect_error(ErrorCode::InvalidArgument, "got 4",
                                   [&] { random_symmetry(4, rng); });
}

TEST(SudokuSymmetry, LinesStayWithTheirBands) {
  Rng rng(9);
  std::set<std::array<uint8_t, kMaxSide>> rows;
  for (int64_t i = 0; i < 20000; ++i) {
    const Symmetry symmetry = random_symmetry(3, rng);
    for (size_t band = 0; band < 9; band += 3)
      for (size_t r = 1; r < 3; ++r)
        ASSERT_EQ(symmetry.row_from[band] / 3, symmetry.row_from[band + r] / 3);
    std::array<uint8_t, kMaxSide> sorted = symmetry.column_from;
    std::sort(sorted.begin(), sorted.end());
    for (size_t c = 0; c < 9; ++c) ASSERT_EQ(sorted[c], c);
    ASSERT_EQ(symmetry.digit_to[0], 0);
    rows.insert(symmetry.row_from);
  }
  // 6^4 = 1296 row orders; the chance to miss any in 20000 draws is below 1296 * exp(-15.4).
  EXPECT_EQ(rows.size(), 1296u);
}

}  // namespace
}  // namespace driftless::task::sudoku
