// SPDX-License-Identifier: Apache-2.0
#include "driftless/task/table.h"

#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "driftless/base/files/file.h"
#include "driftless/task/maze/csv.h"
#include "driftless/task/maze/path.h"
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
    // Rows of pads are no board, where a task has rules; others compare tokens alone.
    if (task.check == check_counted_cells) continue;
    expect_error(ErrorCode::InvalidArgument, "bad token", [&] { task.check(zeros, zeros.input); });
  }
}

TEST_F(TaskTable, GeneratorsMakeBoardsOfAnySize) {
  for (const Task& task : tasks()) {
    if (task.generator == nullptr) continue;
    const int64_t other = task.generator->usual_side > 0 ? 64 : task.seq_len;
    for (const int64_t cells : {task.seq_len, other}) {
      Rng rng(3);
      const Example example = generate(task, {.cells = cells}, rng);
      ASSERT_EQ(std::ssize(example.input), cells) << task.name;
      EXPECT_NE(example.input, example.label);
      EXPECT_EQ(task.check(example, example.label), Outcome::Exact) << task.name;
      Rng again(3);
      EXPECT_EQ(generate(task, {.cells = cells}, again).input, example.input);
    }
  }
  for (const char* name : {"sudoku", "maze"}) {
    Rng rng(3);
    expect_error(ErrorCode::InvalidArgument, "got",
                 [&] { generate(find_task(name), {.cells = 17}, rng); });
  }
  Rng rng(3);
  EXPECT_EQ(generate(find_task("sudoku"), {.cells = 16}, rng).input.size(), 16u);
  EXPECT_EQ(find_task("arc").generator, nullptr);
}

TEST_F(TaskTable, GeneratorsKeepToTheirBounds) {
  for (const Task& task : tasks()) {
    if (task.generator == nullptr) continue;
    std::vector<int64_t> values;
    for (const GeneratorOption& option : task.generator->options) {
      EXPECT_EQ(task.generator->find(option.name), &option);
      values.push_back(option.usual);
    }
    EXPECT_EQ(task.generator->find("no such option"), nullptr);
    Rng rng(5);
    const Example example = generate(task, {.cells = task.seq_len, .values = values}, rng);
    EXPECT_EQ(task.check(example, example.label), Outcome::Exact) << task.name;
  }
  const Task& sudoku = find_task("sudoku");
  // Options: least rating, most rating, extra clues.
  const auto clues_of = [&](std::vector<int64_t> values) {
    Rng rng(9);
    const Example board = generate(sudoku, {.cells = 81, .values = values}, rng);
    return std::count_if(board.input.begin(), board.input.end(), [](uint8_t t) { return t > 1; });
  };
  EXPECT_LE(clues_of({0, 100, -1}), clues_of({0, 100, 60}));
  EXPECT_EQ(clues_of({0, 100, 0}), clues_of({0, 100, -1}));
  Rng rng(9);
  const std::vector<int64_t> wrong = {0, 100, -2};
  expect_error(ErrorCode::InvalidArgument, "extra clues; got -2",
               [&] { generate(sudoku, {.cells = 81, .values = wrong}, rng); });
}

TEST_F(TaskTable, ImagesShareTheirCanonicalForm) {
  for (const Task& task : tasks()) {
    ASSERT_EQ(task.random_image == nullptr, task.canonical == nullptr) << task.name;
    if (task.generator == nullptr || task.canonical == nullptr) continue;
    Rng rng(4);
    const Example board = generate(task, {.cells = task.seq_len}, rng);
    std::set<std::string> images;
    for (int64_t i = 0; i < 20; ++i) {
      const Example image = random_image(task, board, rng);
      images.insert(to_text(task, image.input));
      EXPECT_EQ(canonical_text(task, image), canonical_text(task, board)) << task.name;
      EXPECT_NE(task.check(image, image.label), Outcome::Wrong) << task.name;
    }
    EXPECT_GT(images.size(), 3u) << task.name;
    EXPECT_NE(canonical_text(task, generate(task, {.cells = task.seq_len}, rng)),
              canonical_text(task, board));
  }
  // Without symmetries a board is its own image.
  const Example grid{.name = "a", .input = {2, 3}, .label = {4, 5}};
  Rng rng(1);
  EXPECT_EQ(random_image(find_task("arc"), grid, rng).input, grid.input);
  EXPECT_EQ(canonical_text(find_task("arc"), grid), "01");
}

TEST_F(TaskTable, ImagesOfMazesHaveThePathOfTheRule) {
  const Task& task = find_task("maze");
  Rng rng(1);
  const Example board = generate(task, {.cells = 64}, rng);
  std::set<std::string> images;
  for (int i = 0; i < 100; ++i) {
    const Example image = random_image(task, board, rng);
    const auto ruled = maze::label(maze::board_from_tokens(image.input));
    ASSERT_TRUE(ruled);
    EXPECT_EQ(image.label, ruled->answer.cells);
    images.insert(to_text(task, image.input));
  }
  EXPECT_EQ(images.size(), 8u);
}

TEST_F(TaskTable, FilesWrittenAreReadBackAndClaimed) {
  for (const Task& task : tasks()) {
    if (task.generator == nullptr || task.write == nullptr) continue;
    Rng rng(2);
    const std::vector<Example> boards = {generate(task, {.cells = task.seq_len}, rng)};
    const std::string text = task.write(boards);
    EXPECT_EQ(claimant(text), &task) << text;
    const std::vector<Example> again = parse_examples(task, text, "again");
    ASSERT_EQ(again.size(), 1u) << task.name;
    EXPECT_EQ(again[0].input, boards[0].input) << task.name;
    EXPECT_EQ(again[0].label, boards[0].label) << task.name;
    if (task.audit != nullptr) task.audit(again, "again");
  }
  EXPECT_EQ(claimant(" \n{\"a\": 1}"), &find_task("arc"));
  for (const char* text : {"...4", "id,puzzle,solution\n1,12..,abc", "1.2\r\nabc"})
    EXPECT_EQ(claimant(text), &find_task("sudoku")) << text;
  for (const char* text : {"", "question,answer\n", "prose", "question,answer\nabc,123\n"})
    EXPECT_EQ(claimant(text), nullptr) << text;
}

TEST_F(TaskTable, PicturesKeepToTheirExtents) {
  for (const Task& task : tasks()) {
    if (task.draw == nullptr) continue;
    const std::vector<uint8_t> tokens(static_cast<size_t>(task.seq_len), 2);
    const auto lines_of_picture = [](const std::string& picture) {
      return std::count(picture.begin(), picture.end(), '\n');
    };
    const std::string drawn = task.draw(tokens);
    EXPECT_EQ(lines_of_picture(drawn), task.drawn_extent(task.seq_len).rows) << task.name;
    EXPECT_EQ(static_cast<int64_t>(drawn.find('\n')), task.drawn_extent(task.seq_len).columns);
    if (task.paint == nullptr) continue;
    const std::string painted = task.paint({.question = tokens, .before = tokens, .now = tokens});
    EXPECT_EQ(lines_of_picture(painted), task.painted_extent(task.seq_len).rows) << task.name;
  }
}

TEST_F(TaskTable, WhatATaskLacksIsRefusedByName) {
  EXPECT_EQ(need(find_task("maze"), &Task::generator, "here", "generator"),
            find_task("maze").generator);
  expect_error(ErrorCode::Unsupported,
               "here: task arc has no generator; expected one of sudoku, maze",
               [] { need(find_task("arc"), &Task::generator, "here", "generator"); });
  expect_error(ErrorCode::Unsupported, "here: task other has no drawing",
               [] { need(find_task("other"), &Task::draw, "here", "drawing"); });
}

TEST_F(TaskTable, EmptyAndMixedFilesAreErrors) {
  expect_error(ErrorCode::BadFile, "no sudoku boards",
               [&] { read("sudoku", "question,answer\n"); });
  expect_error(ErrorCode::BadFile, "several sizes; got 16 and 81",
               [&] { read("sudoku", std::string(16, '.') + "\n" + std::string(81, '.')); });
}

}  // namespace
}  // namespace driftless::task
