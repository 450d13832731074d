// SPDX-License-Identifier: Apache-2.0
#include "driftless/task/sudoku/solver.h"

#include <set>
#include <utility>

#include <gtest/gtest.h>

#include "driftless/task/sudoku/csv.h"
#include "driftless/task/sudoku/generator.h"

#include "tests/testing/expect_error.h"
#include "tests/testing/shared_data.h"

namespace driftless::task::sudoku {
namespace {

bool fits(const Board& board, int64_t cell, uint8_t digit) {
  const int64_t side = board.side();
  const int64_t corner =
      cell / side / board.box * board.box * side + cell % side / board.box * board.box;
  for (int64_t i = 0; i < side; ++i) {
    if (board.at(cell / side * side + i) == digit || board.at(i * side + cell % side) == digit ||
        board.at(corner + i / board.box * side + i % board.box) == digit)
      return false;
  }
  return true;
}

/// Counts solutions by plain backtracking in cell order, up to a limit. Requires no conflict.
int64_t count_plainly(Board& board, int64_t limit, int64_t cell = 0) {
  while (cell < board.size() && board.at(cell) != 0) ++cell;
  if (cell == board.size()) return 1;
  int64_t count = 0;
  for (uint8_t digit = 1; digit <= board.side() && count < limit; ++digit) {
    if (!fits(board, cell, digit)) continue;
    board.at(cell) = digit;
    count += count_plainly(board, limit - count, cell + 1);
  }
  board.at(cell) = 0;
  return count;
}

TEST(SudokuSolver, AgreesWithBacktrackingOnSmallBoards) {
  Rng rng(5);
  std::array<int64_t, 3> seen{};
  for (int64_t i = 0; i < 3000; ++i) {
    Board board{.box = 2};
    const auto clues = 2 + rng.below(5);
    for (uint64_t k = 0; k < clues; ++k)
      board.at(static_cast<int64_t>(rng.below(16))) = static_cast<uint8_t>(1 + rng.below(4));
    const Solved solved = solve(board);
    ASSERT_EQ(solved.solutions, find_conflict(board) ? 0 : count_plainly(board, 2))
        << to_line(board);
    EXPECT_EQ(is_answer(board, solved.answer), solved.solutions > 0);
    ++seen.at(static_cast<size_t>(solved.solutions));
  }
  for (const int64_t count : seen) EXPECT_GT(count, 20);
}

TEST(SudokuSolver, AgreesWithBacktrackingOnNineByNine) {
  Rng rng(6);
  std::array<int64_t, 3> seen{};
  for (int64_t i = 0; i < 200; ++i) {
    // 40 clues of a full board, one of them perhaps wrong: few enough branches for the reference.
    const Board answer = random_full_board(3, rng);
    Board board;
    for (int64_t k = 0; k < 55; ++k) {
      const auto cell = static_cast<int64_t>(rng.below(81));
      board.at(cell) = answer.at(cell);
    }
    const auto changed = static_cast<int64_t>(rng.below(81));
    const auto digit = static_cast<uint8_t>(1 + rng.below(9));
    if (i % 2 == 0 && fits(board, changed, digit)) board.at(changed) = digit;
    const Solved solved = solve(board);
    ASSERT_EQ(solved.solutions, count_plainly(board, 2)) << to_line(board);
    EXPECT_EQ(is_answer(board, solved.answer), solved.solutions > 0);
    ++seen.at(static_cast<size_t>(solved.solutions));
  }
  for (const int64_t count : seen) EXPECT_GT(count, 3);
}

TEST(SudokuSolver, EmptyFullAndContradictoryBoards) {
  EXPECT_EQ(solve(Board{}).solutions, 2);
  EXPECT_EQ(solve(Board{.box = 2}).solutions, 2);
  const Board full = solve(Board{}).answer;
  EXPECT_EQ(solve(full).solutions, 1);
  EXPECT_EQ(solve(full).guesses, 0);
  EXPECT_EQ(solve(full).answer, full);
  EXPECT_EQ(solve(parse_line("11" + std::string(79, '.'))).solutions, 0);
  // No two clues clash, yet r1c4 has no digit left.
  EXPECT_EQ(solve(parse_line("123....4........")).solutions, 0);
}

TEST(SudokuSolver, RatingIsZeroWhereDeductionsSuffice) {
  EXPECT_EQ(solve(parse_line("1234.41221434321")).guesses, 0);
  // The rectangle 1 3 / 3 1 can be swapped: one branching tells the two solutions apart.
  const Solved two = solve(parse_line(".2.4.4.221434321"));
  EXPECT_EQ(two.solutions, 2);
  EXPECT_EQ(two.guesses, 1);
}

TEST(SudokuSolver, ImpliedCluesAreThoseWithoutAnAlternative) {
  Rng rng(7);
  const Puzzle puzzle = generate({}, rng);
  Board board = puzzle.question;
  for (int64_t cell = 0; cell < 81; ++cell) {
    if (board.at(cell) != 0) {
      EXPECT_FALSE(is_implied(board, cell));
      continue;
    }
    Board more = board;
    more.at(cell) = puzzle.answer.at(cell);
    EXPECT_TRUE(is_implied(more, cell));
  }
}

TEST(SudokuSolver, RandomSolutionsKeepTheCluesAndVary) {
  Rng rng(8);
  const Board question = parse_line("1...............");
  std::set<Board> seen;
  for (int64_t i = 0; i < 400; ++i) {
    const Board answer = solve_randomly(question, rng);
    ASSERT_TRUE(is_answer(question, answer));
    seen.insert(answer);
  }
  // 288 full boards, a quarter of them starts with 1.
  EXPECT_EQ(seen.size(), 72u);
  driftless::testing::expect_error(ErrorCode::InvalidArgument, "no solution",
                                   [&] { solve_randomly(parse_line("11.............."), rng); });
}

TEST(SudokuSolver, SolvesTheSharedSetsAsAnswered) {
  for (const char* name : {"sudoku_extreme_train.csv", "sudoku_bench_100.csv"}) {
    const auto path = driftless::testing::shared_path("data/sudoku") / name;
    DRIFTLESS_NEEDS_FILE(path);
    for (const Puzzle& puzzle : read_puzzles(path)) {
      const Solved solved = solve(puzzle.question);
      ASSERT_EQ(solved.solutions, 1) << to_line(puzzle.question);
      ASSERT_EQ(solved.answer, puzzle.answer);
    }
  }
}

}  // namespace
}  // namespace driftless::task::sudoku
