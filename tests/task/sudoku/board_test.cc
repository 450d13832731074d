// SPDX-License-Identifier: Apache-2.0
#include "driftless/task/sudoku/board.h"

#include <gtest/gtest.h>

#include "tests/testing/expect_error.h"

namespace driftless::task::sudoku {
namespace {

using driftless::testing::expect_error;

constexpr std::string_view kSmall = "1.3.0.1.2.....2.";

TEST(SudokuBoard, LinesAndTokensRoundTrip) {
  const Board board = parse_line(kSmall);
  EXPECT_EQ(board.box, 2);
  EXPECT_EQ(board.clue_count(), 5);
  EXPECT_EQ(to_line(board), "1.3...1.2.....2.");
  const std::vector<uint8_t> tokens = to_tokens(board);
  ASSERT_EQ(tokens.size(), 16u);
  EXPECT_EQ(tokens[0], 2);
  EXPECT_EQ(tokens[1], 1);
  EXPECT_EQ(board_from_tokens(tokens), board);

  const std::string nine = std::string(80, '.') + "9";
  EXPECT_EQ(to_line(parse_line(nine)), nine);
  EXPECT_EQ(to_tokens(parse_line(nine)).back(), 10);
}

TEST(SudokuBoard, WrongLengthAlphabetAndTokensAreErrors) {
  expect_error(ErrorCode::InvalidArgument, "got 80", [] { parse_line(std::string(80, '.')); });
  expect_error(ErrorCode::InvalidArgument, "got 0 cells", [] { parse_line(""); });
  expect_error(ErrorCode::InvalidArgument, "cell 3; got 'x'",
               [] { parse_line("..x............."); });
  expect_error(ErrorCode::InvalidArgument, "1 to 4", [] { parse_line("5..............."); });
  expect_error(ErrorCode::InvalidArgument, "bad token in cell 1; got 0",
               [] { board_from_tokens(std::vector<uint8_t>(81, 0)); });
  expect_error(ErrorCode::InvalidArgument, "got 11",
               [] { board_from_tokens(std::vector<uint8_t>(81, 11)); });
  expect_error(ErrorCode::InvalidArgument, "got 7 cells",
               [] { board_from_tokens(std::vector<uint8_t>(7, 1)); });
}

TEST(SudokuBoard, ConflictsAreFoundInRowsColumnsAndBoxes) {
  EXPECT_FALSE(find_conflict(parse_line(kSmall)));
  const auto text = [](std::string_view line) {
    const Board board = parse_line(line);
    return describe(find_conflict(board).value(), board);
  };
  EXPECT_EQ(text("1..1............"), "r1c1 and r1c4 both hold 1");
  EXPECT_EQ(text("..2...........2."), "r1c3 and r4c3 both hold 2");
  EXPECT_EQ(text("..3....3........"), "r1c3 and r2c4 both hold 3");
}

TEST(SudokuBoard, AnswersMustBeFullValidAndKeepTheClues) {
  const Board question = parse_line("1...............");
  const std::string answer = "1234341221434321";
  EXPECT_TRUE(is_answer(question, parse_line(answer)));
  EXPECT_FALSE(is_answer(question, parse_line("2134342112434312")));
  EXPECT_FALSE(is_answer(question, parse_line("123434122143432.")));
  EXPECT_FALSE(is_answer(question, parse_line("1234341221434322")));
  EXPECT_FALSE(is_answer(question, Board{}));
}

}  // namespace
}  // namespace driftless::task::sudoku
