// SPDX-License-Identifier: Apache-2.0
#include "driftless/task/arc/json.h"

#include <chrono>
#include <map>

#include <gtest/gtest.h>

#include "driftless/base/files/file.h"

#include "tests/testing/expect_error.h"
#include "tests/testing/shared_data.h"
#include "tests/testing/temp_dir.h"

namespace driftless::task::arc {
namespace {

using driftless::testing::expect_error;

const std::string kTask =
    R"({"train":[{"input":[[1,2]],"output":[[3],[4]]}],"test":[{"input":[[5]]}]})";
const std::string kSolved = R"({"train":[],"test":[{"input":[[5]],"output":[[6]]}]})";

TEST(ArcJson, ReadsSingleAndCombinedTasks) {
  const auto single = parse_puzzles(kTask, "x.json", "x");
  ASSERT_EQ(single.size(), 1u);
  EXPECT_EQ(single[0].name, "x");
  EXPECT_EQ(single[0].train.at(0).input.extent, (Extent{.rows = 1, .columns = 2}));
  EXPECT_EQ(single[0].train[0].output->cells, (std::vector<uint8_t>{3, 4}));
  EXPECT_FALSE(single[0].test.at(0).output);
  const auto both = parse_puzzles("{\"b\":" + kTask + ",\"a\":" + kSolved + "}", "x.json", "x");
  ASSERT_EQ(both.size(), 2u);
  EXPECT_EQ(both[0].name, "a");
  EXPECT_EQ(both[1].train, single[0].train);
  EXPECT_TRUE(parse_puzzles("{}", "x.json", "x").empty());
}

TEST(ArcJson, JoinsChallengesWithSolutionsAndFolders) {
  const driftless::testing::TempDir dir;
  const auto challenges = dir.path() / "arc_eval_challenges.json";
  write_file_atomic(challenges, "{\"a\":" + kTask + "}");
  EXPECT_FALSE(read_puzzles(challenges).at(0).test.at(0).output);
  write_file_atomic(dir.path() / "arc_eval_solutions.json", R"({"a":[[[7,8]]]})");
  EXPECT_EQ(read_puzzles(challenges).at(0).test.at(0).output->cells, (std::vector<uint8_t>{7, 8}));

  const auto folder = dir.path() / "tasks";
  std::filesystem::create_directory(folder);
  write_file_atomic(folder / "second.json", kTask);
  write_file_atomic(folder / "first.json", kSolved);
  write_file_atomic(folder / "notes.txt", "not a task");
  const auto tasks = read_puzzles(folder);
  ASSERT_EQ(tasks.size(), 2u);
  EXPECT_EQ(tasks[0].name, "first");
  EXPECT_EQ(tasks[1].name, "second");
}

TEST(ArcJson, WrongFilesSayWhere) {
  const auto expect_bad = [](std::string_view word, const std::string& text) {
    expect_error(ErrorCode::BadFile, word, [&] { parse_puzzles(text, "x.json", "x"); });
  };
  const auto grid = [](const std::string& input) {
    return R"({"a":{"train":[],"test":[{"input":)" + input + "}]}}";
  };
  expect_bad("x.json: not valid JSON", "{");
  expect_bad("not valid JSON", "");
  expect_bad("not valid JSON", "\xff");
  expect_bad("expected an object", "[]");
  expect_bad("x.json: 'a': not a task; got number", R"({"a":1})");
  expect_bad("no array 'train'", R"({"a":{"test":[]}})");
  expect_bad("no array 'test'", R"({"train":[]})");
  expect_bad("unknown key 'tests'", R"({"train":[],"tests":[]})");
  expect_bad("train[0]: no output", R"({"train":[{"input":[[1]]}],"test":[]})");
  expect_bad("test[0]: no input", R"({"train":[],"test":[{}]})");
  expect_bad("unknown key 'in'", R"({"train":[],"test":[{"input":[[1]],"in":0}]})");
  expect_bad("x.json: 'a': test[0].input: bad grid", grid("[]"));
  expect_bad("bad grid; got string", grid("\"12\""));
  expect_bad("bad row; got array of 0", grid("[[]]"));
  expect_bad("bad row; got array of 1", grid("[[1,2],[3]]"));
  expect_bad("bad row; got number", grid("[1]"));
  expect_bad("bad color; got 10", grid("[[10]]"));
  expect_bad("bad color; got -1", grid("[[-1]]"));
  expect_bad("bad color; got 0.5", grid("[[0.5]]"));
  expect_bad("bad color; got array", grid("[[[1]]]"));
  std::string wide = "[[0";
  for (int i = 0; i < 30; ++i) wide += ",0";
  expect_bad("bad row; got array of 31", grid(wide + "]]"));
  expect_error(ErrorCode::Io, "absent", [] { read_puzzles("absent.json"); });
}

TEST(ArcJson, ManyTasksTakeTimeInProportion) {
  constexpr int kTasks = 40000;
  std::string text = "{";
  for (int i = 0; i < kTasks; ++i)
    text += (i > 0 ? ",\"" : "\"") + std::to_string(i) + "\":" + kTask;
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(parse_puzzles(text + "}", "x.json", "x").size(), size_t{kTasks});
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
}

TEST(ArcJson, DeepNestingIsAnErrorLikeAnyOther) {
  const std::string deep = std::string(200000, '[') + std::string(200000, ']');
  expect_error(ErrorCode::BadFile, "nests too deeply", [&] {
    parse_puzzles(R"({"train":[],"test":[{"input":[[)" + deep + "]]}]}", "x", "x");
  });
}

TEST(ArcJson, WritesWhatItReads) {
  auto tasks = parse_puzzles(kTask, "x", "b");
  tasks.push_back({.name = "c",
                   .train = {},
                   .test = {{.input = tasks[0].test[0].input, .output = std::nullopt}}});
  EXPECT_EQ(parse_puzzles(to_json(tasks), "x", "unused"), tasks);
  tasks[1].name = "b";
  expect_error(ErrorCode::InvalidArgument, "two tasks of one name", [&] { to_json(tasks); });
  expect_error(ErrorCode::BadFile, "appears twice", [] {
    parse_puzzles(R"({"a": {"train": [], "test": []}, "a": {"train": [], "test": []}})", "x", "y");
  });
}

TEST(ArcJson, SolutionsMustMatchTheTasks) {
  auto tasks = parse_puzzles(kTask, "x", "a");
  const auto expect_bad = [&](std::string_view word, const std::string& text) {
    expect_error(ErrorCode::BadFile, word, [&] { add_solutions(tasks, text, "s.json"); });
  };
  expect_bad("s.json: no solutions for task 'a'", "{}");
  expect_bad("no solutions", "[]");
  expect_bad("got 2, expected 1", R"({"a":[[[1]],[[2]]]})");
  expect_bad("s.json: 'a'[0]: bad grid", R"({"a":[[]]})");
}

TEST(ArcJson, SharedSplitsHaveTheirPublishedSizes) {
  struct Size {
    size_t tasks, train, test;
  };
  const std::map<std::string, Size> expected = {{"arc1_training", {400, 1302, 416}},
                                                {"arc1_evaluation", {400, 1363, 419}},
                                                {"conceptarc_corpus", {160, 427, 480}}};
  for (const auto& [name, size] : expected) {
    const auto path = driftless::testing::shared_path("data/arc/" + name + ".json");
    DRIFTLESS_NEEDS_FILE(path);
    size_t train = 0;
    size_t test = 0;
    const auto tasks = read_puzzles(path);
    for (const Puzzle& task : tasks) {
      train += task.train.size();
      test += task.test.size();
    }
    EXPECT_EQ(tasks.size(), size.tasks) << name;
    EXPECT_EQ(train, size.train) << name;
    EXPECT_EQ(test, size.test) << name;
  }
}

}  // namespace
}  // namespace driftless::task::arc
