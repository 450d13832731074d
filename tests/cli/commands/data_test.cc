// SPDX-License-Identifier: Apache-2.0
// driftless data, convert and info MODEL.
#include <string>

#include <gtest/gtest.h>

#include "driftless/base/files/file.h"
#include "driftless/store/checkpoint.h"

#include "tests/cli/dataset_folder.h"
#include "tests/cli/program.h"
#include "tests/store/small_model.h"

namespace driftless {
namespace {

using cli_testing::driftless;
using cli_testing::expect_failure;
using testing::text_of;

class Data : public ::testing::Test {
 protected:
  std::string file(const char* name) const { return (dir_.path() / name).string(); }
  testing::TempDir dir_;
};

TEST_F(Data, GeneratedBoardsAreSoundAndRepeatable) {
  for (const std::string flags : {"--task sudoku --min-rating 2", "--task maze --min-path 40",
                                  "--task maze --unique-path --side 15 --min-path 20"}) {
    const std::string generate = "data generate --count 5 " + flags;
    ASSERT_EQ(driftless(generate + " --seed 7 --out " + file("a")).exit_code, 0) << flags;
    ASSERT_EQ(driftless(generate + " --seed 7 --out " + file("b")).exit_code, 0) << flags;
    ASSERT_EQ(driftless(generate + " --seed 8 --out " + file("c")).exit_code, 0) << flags;
    EXPECT_EQ(text_of(file("a")), text_of(file("b")));
    EXPECT_NE(text_of(file("a")), text_of(file("c")));
    const std::string task = flags.find("maze") == std::string::npos ? "sudoku" : "maze";
    const auto checked = driftless("data check --task " + task + " " + file("a"));
    EXPECT_EQ(checked.exit_code, 0) << checked.err;
    EXPECT_NE(checked.out.find("5 boards"), std::string::npos);
    EXPECT_NE(checked.out.find(": 0\n"), std::string::npos) << checked.out;
  }
}

TEST_F(Data, ConvertsLinesToCsv) {
  const std::string board =
      "53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79";
  write_file_atomic(dir_.path() / "lines", board + "\n");
  ASSERT_EQ(driftless("data convert " + file("lines") + " --out " + file("csv")).exit_code, 0);
  EXPECT_NE(text_of(file("csv")).find(board), std::string::npos);
  const auto stats = driftless("data stats " + file("csv"));
  EXPECT_NE(stats.out.find("clues        mean 30.00, 30 to 30"), std::string::npos) << stats.out;
  EXPECT_NE(stats.out.find("rating       mean 0.00, 0 to 0"), std::string::npos) << stats.out;
}

TEST_F(Data, ReadsTheHeadersOfOthers) {
  const std::string question =
      "530070000600195000098000060800060003400803001700020006060000280000419005000080079";
  const std::string answer =
      "534678912672195348198342567859761423426853791713924856961537284287419635345286179";
  const std::string row = question + "," + answer;
  for (const auto& [header, line] :
       {std::pair("puzzle,solution", row), std::pair("quizzes,solutions", row),
        std::pair("id,puzzle,solution,clues,difficulty", "1," + row + ",30,2.2")}) {
    write_file_atomic(dir_.path() / "csv", std::string(header) + "\n" + line + "\n");
    const auto checked = driftless("data check " + file("csv"));
    EXPECT_EQ(checked.exit_code, 0) << header << checked.err;
    EXPECT_NE(checked.out.find("1 boards, every answer"), std::string::npos) << checked.out;
  }
  write_file_atomic(dir_.path() / "twice", "puzzle,question,answer\n" + question + "," + row);
  expect_failure(driftless("data check " + file("twice")), 12, "'question' appears twice");
}

TEST_F(Data, GenerateGivesUp) {
  const std::string command = "data generate --count 3 --seed 1 --out " + file("y");
  expect_failure(driftless(command + " --min-rating 1000000 --tries 50"), 10,
                 "board 1 of 3: none of 50 tries has what is asked (--min-rating, --max-rating); "
                 "ask for less, or allow more with --tries");
  expect_failure(driftless(command + " --task maze --side 9 --min-path 81 --tries 50"), 10,
                 "none of 50 tries has what is asked (--min-path");
  EXPECT_FALSE(std::filesystem::exists(file("y")));
}

TEST_F(Data, TellsTheTaskFromTheFile) {
  ASSERT_EQ(driftless("data generate --task maze --count 2 --seed 1 --side 9 --min-path 9 "
                      "--max-path 9 --out " +
                      file("mazes"))
                .exit_code,
            0);
  const auto maze = driftless("data stats " + file("mazes"));
  EXPECT_NE(maze.out.find("path cells   mean 9.00, 9 to 9"), std::string::npos) << maze.out;
  EXPECT_EQ(driftless("data convert " + file("mazes") + " --out " + file("again")).exit_code, 0);
  EXPECT_EQ(text_of(file("mazes")), text_of(file("again")));
  expect_failure(driftless("data check --task sudoku " + file("mazes")), 12, "looks like maze");
  expect_failure(driftless("data check --task arc " + file("mazes")), 12, "looks like maze");
}

TEST_F(Data, ReadsDataSetFolders) {
  ASSERT_EQ(driftless("data generate --count 3 --seed 5 --out " + file("csv")).exit_code, 0);
  auto rows = task::read_examples(task::find_task("sudoku"), file("csv"));
  cli_testing::write_dataset(file("set"), rows, 11, {"<blank>"});
  const auto checked = driftless("data check " + file("set"));
  EXPECT_TRUE(checked.out.starts_with(file("set") + ": 3 boards")) << checked.err;
  const auto converted = driftless("data convert " + file("set") + " --out " + file("back"));
  EXPECT_EQ(converted.out, file("back") + ": 3 sudoku boards\n") << converted.err;
  EXPECT_EQ(task::read_examples(task::find_task("sudoku"), file("back"))[2].label, rows[2].label);
  const auto scored = driftless("eval " DRIFTLESS_MODEL " --steps 1 --data " + file("set"));
  EXPECT_NE(scored.out.find("n 3 boards"), std::string::npos) << scored.err;
  std::swap(rows[1].label[0], rows[1].label[1]);
  cli_testing::write_dataset(file("set"), rows, 11, {"<blank>"});
  expect_failure(driftless("data check " + file("set")), 12, "board 1: the label is no answer");
  expect_failure(driftless("data check --split train " + file("set")), 14, "train");
  cli_testing::write_dataset(file("set"), rows, 99, {"<blank>"});
  expect_failure(driftless("data check " + file("set")), 12, "vocabulary of 99");
}

TEST_F(Data, DescribesArcTasks) {
  std::filesystem::create_directory(file("tasks"));
  const std::string task =
      R"({"train":[{"input":[[1,2]],"output":[[3]]}],"test":[{"input":[[4]]}]})";
  write_file_atomic(dir_.path() / "tasks/b.json", task);
  write_file_atomic(dir_.path() / "tasks/a.json", task);
  const auto converted = driftless("data convert " + file("tasks") + " --out " + file("all"));
  EXPECT_EQ(converted.out, file("all") + ": 2 arc tasks\n") << converted.err;
  const auto checked = driftless("data check " + file("all"));
  EXPECT_EQ(checked.out, file("all") +
                             ": 2 tasks, every grid is sound\n"
                             "without demonstrations or test inputs: 0\n"
                             "test inputs without output: 2\n"
                             "equal to an earlier task: 1\n");
  const auto stats = driftless("data stats " + file("all"));
  EXPECT_NE(stats.out.find("train pairs  2\n"), std::string::npos) << stats.out;
  EXPECT_NE(stats.out.find("grid cells   mean 1.33, 1 to 2\n"), std::string::npos) << stats.out;
  expect_failure(driftless("data check " + dir_.path().string()), 12, "no ARC tasks");
}

TEST_F(Data, BadInput) {
  write_file_atomic(dir_.path() / "short", "123\n");
  write_file_atomic(dir_.path() / "clash", "11" + std::string(79, '.') + "\n");
  write_file_atomic(dir_.path() / "prose", "Once upon a time\n");
  write_file_atomic(dir_.path() / "markdown", "# Title\n\n## Chapter\n### Part\n");
  for (const char* text : {"prose", "markdown"})
    expect_failure(driftless("data check " + file(text)), 12, "looks like the boards of no task");
  expect_failure(driftless("data check " + file("short")), 12, "short:1: board");
  expect_failure(driftless("data check " + file("clash")), 12, "r1c1 and r1c2");
  expect_failure(driftless("data check " + file("absent")), 14, "absent");
  expect_failure(driftless("data check --task chess " + file("short")), 10, "sudoku");
  expect_failure(driftless("data generate --task arc --count 1 --seed 1 --out " + file("y")), 13,
                 "data generate: task arc has no generator; expected one of sudoku, maze");
  expect_failure(driftless("data check --task other " + file("clash")), 13,
                 "data check: task other has no rules to check");
  expect_failure(driftless("data augment " + file("clash") + " --seed 1 --out " + file("y")), 13,
                 "data augment: task sudoku has no puzzles with variants");
  expect_failure(driftless("data generate --count 1 --out " + file("y")), 2, "--seed");
  expect_failure(driftless("data generate --count 1 --seed 1 --min-rating 5 --max-rating 2 --out " +
                           file("y")),
                 10, "rating");
  const std::string generate = "data generate --count 1 --seed 1 --out " + file("y");
  expect_failure(driftless(generate + " --side 9"), 2, "--side: is for --task maze");
  expect_failure(driftless(generate + " --task maze --max-rating 9"), 2, "is for --task sudoku");
  expect_failure(driftless(generate + " --task maze --side 5"), 10, "ask for shorter paths");
  expect_failure(driftless("data generate --count 0 --seed 1 --out " + file("y")), 2,
                 "expected an integer from 1 to");
  expect_failure(driftless("data generate --count 9 --seed 1 --out /nowhere/y"), 14, "/nowhere");
  write_file_atomic(dir_.path() / "packed", "\x1f\x8b\x08");
  expect_failure(driftless("data check " + file("packed")), 12, "gunzip");
  EXPECT_FALSE(std::filesystem::exists(file("y")));
}

TEST_F(Data, ConvertKeepsAModel) {
  const auto checkpoint = store::testing::small_checkpoint();
  store::save_checkpoint(dir_.path() / "in", checkpoint);
  ASSERT_EQ(driftless("convert " + file("in") + " " + file("out") + " --weights bf16").exit_code,
            0);
  EXPECT_EQ(store::load_checkpoint(file("out")).config, checkpoint.config);
  const auto info = driftless("info " + file("out"));
  EXPECT_NE(info.out.find("lm_head.weight"), std::string::npos) << info.err;
  expect_failure(driftless("convert " + file("in") + " " + file("y") + " --weights int4"), 2,
                 "bf16");
  write_file_atomic(dir_.path() / "noise", "not a checkpoint at all");
  expect_failure(driftless("convert " + file("noise") + " " + file("y")), 12, "noise");
  expect_failure(driftless("info " + file("noise")), 12, "noise");
  EXPECT_FALSE(std::filesystem::exists(file("y")));
}

TEST_F(Data, AugmentsArcTasks) {
  const auto task = [](const std::string& name) {
    return "\"" + name +
           "\": {\"train\": [{\"input\": [[1, 2], [3, 4]], \"output\": [[4, 3], [2, 1]]}], " +
           "\"test\": [{\"input\": [[1, 5]], \"output\": [[5, 1]]}]}";
  };
  write_file_atomic(dir_.path() / "asked.json", "{" + task("a") + "}");
  write_file_atomic(dir_.path() / "others.json", "{" + task("b") + "}");
  const std::string command = "data augment " + file("asked.json") + " --train-on " +
                              file("others.json") + " --variants 3 --side 4 --seed 5 --out ";
  const auto made = driftless(command + file("set"));
  ASSERT_EQ(made.exit_code, 0) << made.err;
  EXPECT_NE(made.out.find("8 puzzles, 12 boards to train on, 4 to ask, seed 5"), std::string::npos)
      << made.out;
  const auto stats = driftless("data stats " + file("set"));
  EXPECT_EQ(stats.exit_code, 0) << stats.err;
  EXPECT_NE(stats.out.find("arc"), std::string::npos) << stats.out;
  ASSERT_EQ(driftless(command + file("again")).exit_code, 0);
  for (const char* part : {"/train/all__inputs.npy", "/test/all__labels.npy", "/identifiers.json"})
    EXPECT_EQ(text_of(file("set") + part), text_of(file("again") + part)) << part;
  expect_failure(driftless("data augment " + file("asked.json") + " --train-on " +
                           file("asked.json") + " --seed 5 --out " + file("set")),
                 10, "task a: got it twice");
  expect_failure(
      driftless("data augment " + file("asked.json") + " --side 31 --seed 5 --out " + file("set")),
      2, "--side");
}

}  // namespace
}  // namespace driftless
