// SPDX-License-Identifier: Apache-2.0
#include "driftless/task/sudoku/canonical.h"

#include <algorithm>
#include <optional>
#include <set>

#include <gtest/gtest.h>

#include "driftless/task/sudoku/augment.h"
#include "driftless/task/sudoku/csv.h"
#include "driftless/task/sudoku/generator.h"
#include "driftless/task/sudoku/solver.h"

#include "tests/testing/expect_error.h"
#include "tests/testing/shared_data.h"

namespace driftless::task::sudoku {
namespace {

class SudokuCanonical : public ::testing::TestWithParam<int64_t> {};

TEST_P(SudokuCanonical, IsSharedByAllImagesAndIsOneOfThem) {
  const int64_t box = GetParam();
  Rng rng(21);
  for (int64_t i = 0; i < 20; ++i) {
    const Puzzle puzzle = generate({.box = box}, rng);
    const Board form = canonical_form(puzzle.question, puzzle.answer);
    const Solved solved = solve(form);
    EXPECT_EQ(solved.solutions, 1);
    EXPECT_EQ(form.clue_count(), puzzle.question.clue_count());
    EXPECT_EQ(canonical_form(form, solved.answer), form);
    for (int64_t k = 0; k < 5; ++k) {
      const Puzzle image = apply(random_symmetry(box, rng), puzzle);
      ASSERT_EQ(canonical_form(image.question, image.answer), form);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Boxes, SudokuCanonical, ::testing::Values(2, 3));

TEST(SudokuCanonicalForm, FourByFourHasTwoKindsOfFullBoards) {
  Rng rng(1);
  std::set<Board> full;
  while (full.size() < 288) full.insert(random_full_board(2, rng));
  std::set<Board> kinds;
  for (const Board& board : full) kinds.insert(canonical_form(board, board));
  EXPECT_EQ(kinds.size(), 2u);
}

/// Every symmetry of 4x4 boards (2 * 8 * 8 * 24), the smallest answer first, then question.
Board smallest_image(const Puzzle& puzzle) {
  std::vector<std::array<uint8_t, kMaxSide>> lines;
  std::array<uint8_t, kMaxSide> line = {0, 1, 2, 3};
  do {
    if (line[0] / 2 == line[1] / 2) lines.push_back(line);
  } while (std::next_permutation(line.begin(), line.begin() + 4));
  std::optional<std::pair<Board, Board>> smallest;
  Symmetry symmetry;
  for (const auto axes : {Symmetry::Axes::Kept, Symmetry::Axes::Swapped})
    for (const auto& rows : lines)
      for (const auto& columns : lines) {
        std::array<uint8_t, kMaxSide + 1> digits = {0, 1, 2, 3, 4};
        do {
          symmetry = {.axes = axes, .row_from = rows, .column_from = columns, .digit_to = digits};
          const std::pair image(apply(symmetry, puzzle.answer), apply(symmetry, puzzle.question));
          if (!smallest || image < *smallest) smallest = image;
        } while (std::next_permutation(digits.begin() + 1, digits.begin() + 5));
      }
  return smallest->second;
}

TEST(SudokuCanonicalForm, IsTheSmallestOfAllImages) {
  Rng rng(4);
  for (int64_t i = 0; i < 10; ++i) {
    const Puzzle puzzle = generate({.box = 2}, rng);
    EXPECT_EQ(canonical_form(puzzle.question, puzzle.answer), smallest_image(puzzle));
  }
}

TEST(SudokuCanonicalForm, TellsBoardsOfOneAnswerApart) {
  Rng rng(2);
  const Puzzle puzzle = generate({}, rng);
  std::set<Board> forms = {canonical_form(puzzle.question, puzzle.answer)};
  for (int64_t cell = 0; cell < 81; ++cell) {
    if (puzzle.question.at(cell) != 0) continue;
    Board more = puzzle.question;
    more.at(cell) = puzzle.answer.at(cell);
    forms.insert(canonical_form(more, puzzle.answer));
  }
  // The answer of this seed has no symmetry of its own, so no two added clues are equivalent.
  EXPECT_EQ(forms.size(), static_cast<size_t>(82 - puzzle.question.clue_count()));
}

TEST(SudokuCanonicalForm, NeedsTheAnswer) {
  driftless::testing::expect_error(ErrorCode::InvalidArgument, "does not answer",
                                   [] { canonical_form(Board{}, Board{}); });
}

TEST(SudokuCanonicalForm, SharedTrainingAndBenchSetsAreDisjoint) {
  const auto folder = driftless::testing::shared_path("data/sudoku");
  DRIFTLESS_NEEDS_FILE(folder / "sudoku_extreme_train.csv");
  DRIFTLESS_NEEDS_FILE(folder / "sudoku_bench_100.csv");
  std::set<Board> train;
  for (const Puzzle& puzzle : read_puzzles(folder / "sudoku_extreme_train.csv"))
    train.insert(canonical_form(puzzle.question, puzzle.answer));
  for (const Puzzle& puzzle : read_puzzles(folder / "sudoku_bench_100.csv"))
    EXPECT_FALSE(train.contains(canonical_form(puzzle.question, puzzle.answer)));
}

}  // namespace
}  // namespace driftless::task::sudoku
