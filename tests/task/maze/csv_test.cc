// SPDX-License-Identifier: Apache-2.0
#include "driftless/task/maze/csv.h"

#include <gtest/gtest.h>

#include "driftless/base/files/file.h"
#include "driftless/task/maze/generator.h"

#include "tests/testing/expect_error.h"
#include "tests/testing/temp_dir.h"

namespace driftless::task::maze {
namespace {

using driftless::testing::expect_error;

TEST(MazeCsv, WriterAndReaderAgree) {
  Rng rng(1);
  std::vector<Puzzle> puzzles;
  for (int64_t i = 0; i < 4; ++i)
    puzzles.push_back(generate({.side = 10 + i, .min_path_cells = 9}, rng));
  const std::string text = to_csv(puzzles);
  EXPECT_EQ(parse_csv(text, "x"), puzzles);
  const driftless::testing::TempDir dir;
  write_file_atomic(dir.path() / "x.csv", text);
  EXPECT_EQ(read_puzzles(dir.path() / "x.csv"), puzzles);
}

TEST(MazeCsv, AcceptsTheFourColumnHeaderAndOtherShortestPaths) {
  const auto puzzles = parse_csv("source,question,answer,rating\nx,S       G,Soo  o  G,4\n", "x");
  ASSERT_EQ(puzzles.size(), 1u);
  EXPECT_EQ(to_line(puzzles[0].answer), "Soo  o  G");
  EXPECT_EQ(puzzles[0].path_cells, 5);
}

TEST(MazeCsv, WrongFilesNameTheLine) {
  const auto expect_bad = [](std::string_view word, const std::string& rows) {
    expect_error(ErrorCode::BadFile, word,
                 [&] { parse_csv("question,answer,path_cells\n" + rows + "\n", "m.csv"); });
  };
  expect_bad("m.csv:2: maze: wrong board length; got 3", "S G,SoG,3");
  expect_bad("m.csv:2: maze: bad character", "Sx G,S oG,3");
  expect_bad("not a question", "S   ,S   ,3");
  expect_bad("no way", "S##G,S##G,2");
  expect_bad("differ in size", "S  G,S       G,3");
  expect_bad("not the question with a shortest path", "S  G,S  G,3");
  expect_bad("wrong path_cells; got 4, expected 3", "S  G,So G,4");
  expect_bad("bad path_cells", "S  G,So G,x");
  expect_error(ErrorCode::Io, "absent", [] { read_puzzles("absent"); });
}

}  // namespace
}  // namespace driftless::task::maze
