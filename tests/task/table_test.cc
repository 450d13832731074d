// SPDX-License-Identifier: Apache-2.0
#include "driftless/task/table.h"

#include <set>

#include <gtest/gtest.h>

#include "driftless/base/file.h"
#include "driftless/task/maze/csv.h"
#include "driftless/task/sudoku/csv.h"
#include "driftless/task/sudoku/generator.h"

#include "tests/testing/expect_error.h"
#include "tests/testing/temp_dir.h"

namespace driftless::task {
namespace {

using driftless::testing::expect_error;

class TaskTable : public ::testing::Test {
 protected:
  std::vector<Example> read(std::string_view task, std::string_view text) {
    write_file_atomic(dir_.path() / "data", text);
    return read_examples(find_task(task), dir_.path() / "data");
  }

 private:
  driftless::testing::TempDir dir_;
};

TEST_F(TaskTable, RowsAreNamedAndHaveThePublishedVocabularies) {
  std::set<std::string_view> names;
  for (const Task& task : tasks()) {
    EXPECT_EQ(find_task(task.name).name, task.name);
    EXPECT_FALSE(task.description.empty());
    EXPECT_GT(task.seq_len, 0);
    names.insert(task.name);
  }
  EXPECT_EQ(names.size(), tasks().size());
  EXPECT_EQ(find_task("sudoku").vocab_size(), 11);
  EXPECT_EQ(find_task("maze").vocab_size(), 6);
  EXPECT_EQ(find_task("arc").vocab_size(), 12);
  expect_error(ErrorCode::InvalidArgument, "did you mean 'sudoku'", [] { find_task("soduku"); });
}

TEST_F(TaskTable, SudokuBoardsAreReadCheckedAndShown) {
  Rng rng(1);
  const auto puzzle = sudoku::generate({}, rng);
  const auto examples = read("sudoku", sudoku::to_csv(std::vector{puzzle}));
  ASSERT_EQ(examples.size(), 1u);
  const Task& task = find_task("sudoku");
  EXPECT_EQ(to_text(task, examples[0].input), sudoku::to_line(puzzle.question));
  EXPECT_EQ(task.check(examples[0], examples[0].label), Outcome::Exact);
  EXPECT_EQ(task.check(examples[0], examples[0].input), Outcome::Wrong);
  EXPECT_EQ(task.check(examples[0], std::vector<uint8_t>(81, 255)), Outcome::Wrong);
  EXPECT_EQ(to_text(task, std::vector<uint8_t>{0, 1, 10, 11}), "?.9?");
  // Two solutions: the other one is accepted.
  const Example two = read("sudoku", ".2.4.4.221434321\n").at(0);
  const std::string swapped =
      to_text(task, two.label) == "1234341221434321" ? "3214143221434321" : "1234341221434321";
  EXPECT_EQ(task.check(two, sudoku::to_tokens(sudoku::parse_line(swapped))), Outcome::Accepted);
}

TEST_F(TaskTable, MazesAcceptOtherShortestPaths) {
  const auto examples = read("maze", "question,answer\nS       G,S  o  ooG\n");
  const Task& task = find_task("maze");
  EXPECT_EQ(to_text(task, examples.at(0).label), "S  o  ooG");
  EXPECT_EQ(task.check(examples[0], examples[0].label), Outcome::Exact);
  EXPECT_EQ(task.check(examples[0], maze::parse_line("Soo  o  G").cells), Outcome::Accepted);
  EXPECT_EQ(task.check(examples[0], examples[0].input), Outcome::Wrong);
}

TEST_F(TaskTable, ArcReadsTestPairsOntoTheCanvas) {
  const std::string text =
      R"({"a":{"train":[],"test":[{"input":[[1]],"output":[[2,3]]},{"input":[[4]]}]}})";
  const auto mini = read("mini-arc", text);
  ASSERT_EQ(mini.size(), 1u);
  EXPECT_EQ(mini[0].name, "a");
  const Task& task = find_task("mini-arc");
  EXPECT_EQ(to_text(task, mini[0].label).substr(0, 10), "23|??||???");
  EXPECT_EQ(task.check(mini[0], mini[0].label), Outcome::Exact);
  EXPECT_EQ(task.check(mini[0], mini[0].input), Outcome::Wrong);
  EXPECT_EQ(read("arc", text).at(0).input.size(), 900u);
}

TEST_F(TaskTable, CheckersRefuseOtherLengthsAndTokens) {
  for (const Task& task : tasks()) {
    const Example zeros{.name = {},
                        .input = std::vector<uint8_t>(static_cast<size_t>(task.seq_len), 0),
                        .label = std::vector<uint8_t>(static_cast<size_t>(task.seq_len), 1)};
    expect_error(ErrorCode::InvalidArgument, "got",
                 [&] { task.check(zeros, std::vector<uint8_t>(3, 1)); });
    // Rows of pads are no board; ARC compares tokens alone.
    if (task.alphabet.starts_with("?|")) continue;
    expect_error(ErrorCode::InvalidArgument, "bad token", [&] { task.check(zeros, zeros.input); });
  }
}

TEST_F(TaskTable, GeneratorsMakeBoardsOfAnySize) {
  for (const Task& task : tasks()) {
    const bool is_arc = task.alphabet.starts_with("?|");
    ASSERT_EQ(task.generate == nullptr, is_arc) << task.name;
    if (is_arc) continue;
    const int64_t small = task.name == "maze" ? 64 : 16;
    for (const int64_t cells : {task.seq_len, small}) {
      Rng rng(3);
      const Example example = task.generate(cells, rng);
      ASSERT_EQ(std::ssize(example.input), cells) << task.name;
      EXPECT_NE(example.input, example.label);
      EXPECT_EQ(task.check(example, example.label), Outcome::Exact) << task.name;
      Rng again(3);
      EXPECT_EQ(task.generate(cells, again).input, example.input);
    }
    Rng rng(3);
    expect_error(ErrorCode::InvalidArgument, "got", [&] { task.generate(17, rng); });
  }
}

TEST_F(TaskTable, EmptyAndMixedFilesAreErrors) {
  expect_error(ErrorCode::BadFile, "no sudoku boards",
               [&] { read("sudoku", "question,answer\n"); });
  expect_error(ErrorCode::BadFile, "several sizes; got 16 and 81",
               [&] { read("sudoku", std::string(16, '.') + "\n" + std::string(81, '.')); });
}

}  // namespace
}  // namespace driftless::task
