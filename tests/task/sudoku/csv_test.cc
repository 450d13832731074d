// SPDX-License-Identifier: Apache-2.0
#include "driftless/task/sudoku/csv.h"

#include <gtest/gtest.h>

#include "driftless/base/files/file.h"
#include "driftless/task/sudoku/generator.h"

#include "tests/testing/expect_error.h"
#include "tests/testing/shared_data.h"
#include "tests/testing/temp_dir.h"

namespace driftless::task::sudoku {
namespace {

using driftless::testing::expect_error;

constexpr std::string_view kQuestion = "1...3.1.2......1";
constexpr std::string_view kAnswer = "1234341221434321";

std::string rows(std::string_view header, std::string_view row) {
  return std::string(header) + "\n" + std::string(row) + "\n";
}

TEST(SudokuCsv, WriterAndReaderAgree) {
  Rng rng(1);
  std::vector<Puzzle> puzzles;
  for (int64_t i = 0; i < 5; ++i) puzzles.push_back(generate({}, rng));
  const std::string text = to_csv(puzzles);
  EXPECT_EQ(parse_csv(text, "x.csv"), puzzles);
  const driftless::testing::TempDir dir;
  write_file_atomic(dir.path() / "x.csv", text);
  EXPECT_EQ(read_puzzles(dir.path() / "x.csv"), puzzles);
}

TEST(SudokuCsv, AcceptsBothRatingNamesAnyColumnOrderAndWindowsLineEnds) {
  const std::string board = std::string(kAnswer) + "," + std::string(kQuestion);
  const auto guesses = parse_csv("guesses,answer,question\r\n7," + board + "\r\n\r\n", "x");
  ASSERT_EQ(guesses.size(), 1u);
  EXPECT_EQ(guesses[0].rating, 7);
  EXPECT_EQ(to_line(guesses[0].question), kQuestion);
  EXPECT_EQ(parse_csv(rows("answer,question", board), "x").at(0).rating, 0);
  EXPECT_TRUE(parse_csv("question,answer", "x").empty());
}

TEST(SudokuCsv, WrongFilesNameTheLine) {
  const auto expect_bad = [](std::string_view word, const std::string& text) {
    expect_error(ErrorCode::BadFile, word, [&] { parse_csv(text, "x.csv"); });
  };
  const std::string good = std::string(kQuestion) + "," + std::string(kAnswer);
  expect_bad("x.csv: no header", "");
  expect_bad("unknown column; got 'quiz'", rows("quiz,answer", good));
  expect_bad("appears twice", rows("answer,answer", good));
  expect_bad("no column 'answer'", rows("question", kQuestion));
  expect_bad("x.csv:2: wrong number of fields; got 3", rows("question,answer", good + ",5"));
  expect_bad("x.csv:3: wrong number of fields; got 1",
             rows("question,answer", good + "\n\n" + good));
  expect_bad("bad rating; got '-1'", rows("question,answer,rating", good + ",-1"));
  expect_bad("x.csv:2: question: sudoku: wrong board length", rows("question,answer", "1,2"));
  expect_bad("question breaks the rules; r1c1 and r1c2 both hold 1",
             rows("question,answer",
                  "11.............."
                  "," +
                      std::string(kAnswer)));
  expect_bad("answer breaks the rules",
             rows("question,answer", std::string(kQuestion) + ",1134341221434321"));
  expect_bad("changes a clue", rows("question,answer", "2...............," + std::string(kAnswer)));
  expect_bad("blanks", rows("question,answer", std::string(kQuestion) + ",123434122143432."));
  expect_error(ErrorCode::Io, "absent", [] { read_puzzles("absent"); });
  expect_error(ErrorCode::InvalidArgument, "comma",
               [] { to_csv(std::vector<Puzzle>{{.source = "a,b"}}); });
}

TEST(SudokuLines, AreSolvedAndRefuted) {
  const auto puzzles = parse_lines(std::string(kQuestion) + "\n", "boards.txt");
  ASSERT_EQ(puzzles.size(), 1u);
  EXPECT_TRUE(is_answer(puzzles[0].question, puzzles[0].answer));
  expect_error(ErrorCode::BadFile, "boards.txt:1: board breaks the rules",
               [] { parse_lines("11..............", "boards.txt"); });
  expect_error(ErrorCode::BadFile, "no solution",
               [] { parse_lines("123....4........", "boards.txt"); });
  expect_error(ErrorCode::BadFile, "boards.txt:1: board: sudoku: wrong board length",
               [] { parse_lines("12", "boards.txt"); });
}

TEST(SudokuCsv, ReadsTheSharedTestSet) {
  const auto path = driftless::testing::shared_path("data/sudoku/sudoku_extreme_test.csv");
  DRIFTLESS_NEEDS_FILE(path);
  EXPECT_EQ(read_puzzles(path).size(), 9974u);
}

}  // namespace
}  // namespace driftless::task::sudoku
