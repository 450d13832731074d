// SPDX-License-Identifier: Apache-2.0
#include "driftless/run/boards.h"

#include <gtest/gtest.h>

#include "driftless/base/files/file.h"

#include "tests/testing/expect_error.h"
#include "tests/testing/temp_dir.h"

namespace driftless::run {
namespace {

class BoardFiles : public ::testing::Test {
 protected:
  std::string file(const std::string& name, const std::string& text) const {
    const std::filesystem::path path = dir_.path() / name;
    write_file_atomic(path, text);
    return path.string();
  }
  testing::TempDir dir_;
};

const std::string kArc = R"({"a": {"train": [{"input": [[1]], "output": [[2]]}],
                             "test": [{"input": [[3]], "output": [[4]]}]},
                       "b": {"train": [], "test": [{"input": [[5]], "output": [[6]]}]}})";
const std::string kSudoku =
    "23...59....49....8.1.....461...9..6...7.....98...36.17...7..65.5...13...........2";

TEST_F(BoardFiles, TellTheirTask) {
  EXPECT_EQ(guess_task({.path = file("a.json", kArc)}).name, "arc");
  EXPECT_EQ(guess_task({.path = file("m.txt", "S##G\n")}).name, "maze");
  EXPECT_EQ(guess_task({.path = file("s.txt", kSudoku + "\n")}).name, "sudoku");
}

TEST_F(BoardFiles, OfAnotherTaskAreNamed) {
  EXPECT_ERROR(read_boards(task::find_task("maze"), {.path = file("a.json", kArc)}),
               ErrorCode::BadFile, "looks like arc, not maze");
}

TEST_F(BoardFiles, AreCutToTheLimit) {
  const std::string path = file("a.json", kArc);
  EXPECT_EQ(read_arc_puzzles({.path = path}).size(), 2U);
  const auto puzzles = read_arc_puzzles({.path = path, .limit = 1});
  ASSERT_EQ(puzzles.size(), 1U);
  EXPECT_EQ(puzzles[0].name, "a");
}

TEST_F(BoardFiles, OfArcGetTheRowsOfTheModelsTable) {
  store::Checkpoint model;
  model.config.task = "arc";
  model.config.vocab_size = 12;
  model.config.seq_len = 25;
  model.config.puzzle_emb_len = 1;
  model.config.num_puzzle_identifiers = 3;
  const BoardFile source{.path = file("a.json", kArc)};
  const auto model_file = dir_.path() / "model.safetensors";
  EXPECT_ERROR(read_boards_for(model, model_file, source, {}), ErrorCode::InvalidArgument,
               "identifiers.json beside it");
  file("identifiers.json", R"(["<blank>", "x", "b"])");
  const Boards boards = read_boards_for(model, model_file, source, {});
  EXPECT_TRUE(boards.are_arc());
  EXPECT_EQ(boards.puzzles.size(), 2U);
  EXPECT_EQ(boards.strangers, std::vector<std::string>{"a"});
  ASSERT_EQ(boards.examples.size(), 1U);
  EXPECT_EQ(boards.examples[0].puzzle, 2);
  file("identifiers.json", R"(["<blank>", "x"])");
  EXPECT_ERROR(read_boards_for(model, model_file, source, {}), ErrorCode::BadFile,
               "num_puzzle_identifiers = 3");
}

TEST_F(BoardFiles, MustFitTheModel) {
  store::Checkpoint model;
  model.config.task = "sudoku";
  model.config.seq_len = 16;
  EXPECT_ERROR(read_boards_for(model, "m", {.path = file("s.txt", kSudoku + "\n")}, {}),
               ErrorCode::BadFile, "got 81 cells, expected 16");
}

}  // namespace
}  // namespace driftless::run
