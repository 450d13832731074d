// SPDX-License-Identifier: Apache-2.0
#include "driftless/task/maze/board.h"

#include <gtest/gtest.h>

#include "driftless/task/maze/generator.h"
#include "driftless/task/maze/path.h"

#include "tests/testing/expect_error.h"

namespace driftless::task::maze {
namespace {

using driftless::testing::expect_error;

TEST(MazeBoard, TextAndTokensRoundTrip) {
  const Board board = parse_line("S# oo#  G");
  EXPECT_EQ(board.side, 3);
  EXPECT_EQ(board.cells, (std::vector<uint8_t>{3, 1, 2, 5, 5, 1, 2, 2, 4}));
  EXPECT_EQ(to_line(board), "S# oo#  G");
  EXPECT_EQ(board_from_tokens(board.cells), board);
}

TEST(MazeBoard, WrongLengthAlphabetAndTokensAreErrors) {
  expect_error(ErrorCode::InvalidArgument, "got 5 cells", [] { parse_line("S   G"); });
  expect_error(ErrorCode::InvalidArgument, "got 0 cells", [] { parse_line(""); });
  expect_error(ErrorCode::InvalidArgument, "cell 2; got '?'", [] { parse_line("S?G "); });
  expect_error(ErrorCode::InvalidArgument, "cell 4; got 6", [] {
    board_from_tokens(std::vector<uint8_t>{1, 2, 3, 6});
  });
  expect_error(ErrorCode::InvalidArgument, "got 0",
               [] { board_from_tokens(std::vector<uint8_t>(4, 0)); });
  expect_error(ErrorCode::InvalidArgument, "got 3 cells",
               [] { board_from_tokens(std::vector<uint8_t>(3, 1)); });
  expect_error(ErrorCode::InvalidArgument, "0 G", [] { require_question(parse_line("S   ")); });
}

TEST(MazeBoard, SymmetriesKeepShortestPaths) {
  Rng rng(2);
  const Puzzle puzzle = generate({.side = 12, .min_path_cells = 15}, rng);
  for (int64_t id = 0; id < kDihedralCount; ++id) {
    const Puzzle image = apply(dihedral_from_id(id), puzzle);
    const Puzzle relabeled = label(image.question).value();
    EXPECT_EQ(relabeled.path_cells, puzzle.path_cells);
    EXPECT_NE(check(relabeled, image.answer.cells), Outcome::Wrong);
    EXPECT_EQ(apply(inverse(dihedral_from_id(id)), image), puzzle);
  }
  EXPECT_EQ(to_line(apply(Dihedral::Turn90, parse_line("S  G"))), " GS ");
}

}  // namespace
}  // namespace driftless::task::maze
