// SPDX-License-Identifier: Apache-2.0
// ARC from end to end with a small model of random weights: files, identifiers, votes, submission.
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "driftless/base/files/file.h"
#include "driftless/store/checkpoint.h"
#include "driftless/task/arc/json.h"
#include "driftless/task/arc/rows.h"

#include "tests/cli/dataset_folder.h"
#include "tests/cli/program.h"
#include "tests/simulate/random_model.h"

namespace driftless {
namespace {

using cli_testing::driftless;
using cli_testing::expect_failure;
using testing::Outcome;
using testing::text_of;
using Json = nlohmann::json;

const Json kNames = {"<blank>", "a", "a|||t1|||0213456789", "b|||t6|||0123456798", "b", "unused"};

class Arc : public ::testing::Test {
 protected:
  Arc() {
    save_model("model", 6);
    write("identifiers.json", kNames.dump());
    tasks_ = {
        {"a", {{"train", Json::array()}, {"test", {{{"input", {{1, 2}, {3, 4}}}}}}}},
        {"b",
         {{"train", Json::array()}, {"test", {{{"input", {{5}}}}, {{"input", {{6, 7, 8}}}}}}}}};
    write("tasks.json", tasks_.dump());
  }

  std::string file(const std::string& name) const { return (dir_.path() / name).string(); }
  void write(const std::string& name, const std::string& text) const {
    write_file_atomic(dir_.path() / name, text);
  }

  void save_model(const std::string& name, int64_t identifiers) const {
    model::ModelConfig config;
    config.task = "arc";
    config.vocab_size = 12;
    config.seq_len = 25;
    config.hidden_size = 24;
    config.num_heads = 3;
    config.puzzle_emb_len = 2;
    config.puzzle_emb_ndim = 24;
    config.num_puzzle_identifiers = identifiers;
    config.h_cycles = 1;
    config.l_cycles = 2;
    config.halt_max_steps = 2;
    store::save_checkpoint(file(name), simulate::testing::random_checkpoint(config, 3));
  }

  Outcome eval(const std::string& flags, const std::string& data = "tasks.json") const {
    return driftless("eval " + file("model") + " --data " + file(data) + " " + flags);
  }

  /// The outputs become what the model answers to the tasks as they are.
  void learn_outputs() {
    ASSERT_EQ(eval("--variants 1 --submission " + file("s.json")).exit_code, 0);
    const Json answers = Json::parse(text_of(file("s.json")));
    for (auto& [name, task] : tasks_.items())
      for (size_t i = 0; i < task["test"].size(); ++i)
        task["test"][i]["output"] = answers.at(name).at(i).at("attempt_1");
    write("tasks.json", tasks_.dump());
  }

  testing::TempDir dir_;
  Json tasks_;
};

TEST_F(Arc, TheModelsOwnAnswersAreRight) {
  learn_outputs();
  const Outcome outcome = eval("--variants 1 --json " + file("r.json"));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "");
  EXPECT_NE(outcome.out.find("\npass@1     100.00 %"), std::string::npos) << outcome.out;
  const Json record = Json::parse(text_of(file("r.json")));
  EXPECT_EQ(record.at("boards"), 3);
  EXPECT_EQ(record.at("pass").size(), 2u);
  EXPECT_EQ(record.at("pass").at(1).at("k"), 2);
  EXPECT_EQ(record.at("pass").at(0).at("n"), 2);
  EXPECT_EQ(record.at("pass").at(0).at("inputs").at("n"), 3);
}

TEST_F(Arc, EveryVariantIsAskedWithItsPuzzleRow) {
  const Outcome outcome = eval("--predictions " + file("p.jsonl"));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  std::istringstream lines(text_of(file("p.jsonl")));
  std::vector<std::string> seen;
  for (std::string line; std::getline(lines, line);) {
    const Json record = Json::parse(line);
    seen.push_back(record.at("name").get<std::string>() + " " +
                   record.at("question").get<std::string>().substr(0, 5));
  }
  // t1 turns counter-clockwise: the first row becomes the first column from the bottom, and colors
  // 1 and 2 are swapped. t6 transposes.
  EXPECT_EQ(seen, (std::vector<std::string>{"a 12|??", "a|||t1|||0213456789 14|??", "b 5|???",
                                            "b|||t6|||0123456798 5|???", "b 678|?",
                                            "b|||t6|||0123456798 6|???"}));
}

TEST_F(Arc, ADataSetFolderGivesTheSameResult) {
  learn_outputs();
  const auto puzzles = task::arc::read_puzzles(file("tasks.json"));
  const auto names = kNames.get<std::vector<std::string>>();
  const auto rows = task::arc::rows(puzzles, task::arc::Identifiers(names, "names"), {.side = 5});
  cli_testing::write_dataset(file("set"), rows, 12, names);

  ASSERT_EQ(eval("--json " + file("a.json") + " --submission " + file("a.sub")).exit_code, 0);
  const Outcome outcome =
      eval("--json " + file("b.json") + " --submission " + file("b.sub"), "set");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(text_of(file("a.sub")), text_of(file("b.sub")));
  const Json a = Json::parse(text_of(file("a.json")));
  const Json b = Json::parse(text_of(file("b.json")));
  EXPECT_EQ(a.at("boards"), 6);
  for (const char* key : {"boards", "pass", "exact", "cells", "mean_steps"})
    EXPECT_EQ(a.at(key), b.at(key)) << key;

  const Outcome quantized = eval(
      "--acts int8/tensor/static --calibration-boards 4 --calibration-may-overlap "
      "--calibration-data " +
          file("set"),
      "set");
  ASSERT_EQ(quantized.exit_code, 0) << quantized.err;
  EXPECT_NE(quantized.out.find("calibrated 4 boards of " + file("set")), std::string::npos)
      << quantized.out;

  std::filesystem::remove(file("set/identifiers.json"));
  expect_failure(eval("", "set"), 12, "identifiers.json");
}

TEST_F(Arc, TrainingPairsMayLieAnywhereOnTheirCanvas) {
  learn_outputs();
  auto puzzles = task::arc::read_puzzles(file("tasks.json"));
  std::vector<task::Example> rows;
  const auto names = kNames.get<std::vector<std::string>>();
  for (const task::arc::Puzzle& puzzle : puzzles)
    for (const task::arc::Pair& pair : puzzle.test) {
      Rng rng(rows.size());
      const auto place = task::arc::random_place(pair, 5, rng);
      rows.push_back({.name = puzzle.name,
                      .input = task::arc::encode(pair.input, place),
                      .label = task::arc::encode(*pair.output, place),
                      .puzzle = puzzle.name == "a" ? 1 : 4});
    }
  cli_testing::write_dataset(file("set"), rows, 12, names, "train");
  ASSERT_EQ(eval("--submission " + file("a.sub")).exit_code, 0);
  for (const std::string flags : {"set --split train", "set/train", "set/train/"}) {
    const Outcome outcome = eval("--submission " + file("b.sub"), flags);
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_EQ(text_of(file("a.sub")), text_of(file("b.sub"))) << flags;
  }
}

TEST_F(Arc, UnknownTasksCountAsWrongAndAreNamed) {
  learn_outputs();
  tasks_["stranger"] = tasks_["a"];
  write("tasks.json", tasks_.dump());
  const Outcome outcome = eval("--variants 1 --json " + file("r.json"));
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_NE(outcome.err.find("1 of 3 tasks"), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("stranger"), std::string::npos) << outcome.err;
  const Json pass = Json::parse(text_of(file("r.json"))).at("pass").at(0);
  EXPECT_EQ(pass.at("whole_tasks").at("hits"), 2);
  EXPECT_EQ(pass.at("whole_tasks").at("n"), 3);
}

TEST_F(Arc, AModelWithoutATableGetsDrawnVariants) {
  save_model("model", 1);
  for (const std::string seed : {"1", "1", "2"}) {
    const Outcome outcome =
        eval("--variants 3 --seed " + seed + " --predictions " + file("p" + seed));
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  }
  EXPECT_NE(text_of(file("p1")), text_of(file("p2")));
}

TEST_F(Arc, SolveShowsTheGrid) {
  learn_outputs();
  const Outcome outcome = driftless("solve " + file("model") + " --data " + file("tasks.json"));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_TRUE(outcome.out.starts_with("board 1 of 3, a\nstep 1 ")) << outcome.out;
  EXPECT_NE(outcome.out.find("board 3 of 3, b\n"), std::string::npos) << outcome.out;
  expect_failure(driftless("solve " + file("model") + " 123"), 13, "use --data");
}

TEST_F(Arc, BadInput) {
  write("bad.json", R"(["a"])");
  expect_failure(eval("--identifiers " + file("bad.json")), 12, "1 names, expected");
  write("bad.json", R"(["a|||x", "b", "c", "d", "e", "f"])");
  expect_failure(eval("--identifiers " + file("bad.json")), 12, "bad variant name");
  write("bad.json", R"({"c": {"train": [], "test": [{"input": [[1]]}]}})");
  expect_failure(eval("", "bad.json"), 10, "knows none of the tasks");
  write("bad.json", R"({"a": {"train": [], "test": [{"input": [[1,2,3,4,5,6]]}]}})");
  expect_failure(eval("", "bad.json"), 10, "task a: arc: the grid does not fit");
  expect_failure(eval("--variants 0"), 2, "--variants");
  std::filesystem::remove(file("identifiers.json"));
  expect_failure(eval(""), 10, "--identifiers FILE");
}

}  // namespace
}  // namespace driftless
