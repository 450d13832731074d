// SPDX-License-Identifier: Apache-2.0
// ARC from tasks to votes: augmentation, training with a puzzle table, resuming, evaluation and
// submission, by the program.
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "driftless/base/files/file.h"
#include "driftless/base/rng.h"

#include "tests/testing/run_program.h"
#include "tests/testing/shared_data.h"
#include "tests/testing/temp_dir.h"

namespace driftless::lab {
namespace {

using driftless::testing::Outcome;
using driftless::testing::text_of;
using Json = nlohmann::json;

constexpr const char* kRecipe = R"(
[task]
name = "arc"
[[task.pool]]
file = "set"
[model]
seq_len = 9
hidden_size = 32
num_layers = 1
expansion = 1
puzzle_emb_len = 1
puzzle_emb_ndim = 16
[recursion]
h_cycles = 1
l_cycles = 2
halt_max_steps = 2
[train]
seed = 1
batch = 64
lr = 4e-3
weight_decay = 0.1
puzzle_lr = 1e-2
warmup_steps = 10
ema_rate = 0.95
steps = 150
decay_steps = 100
[eval]
file = "set"
boards = 12
[output]
log_every = 50
eval_every = 100
)";

/// Two rules on 3x3 grids of two colors, to keep them and to swap them; each shows 40 pairs and
/// asks one more.
Json tasks() {
  Rng rng(1);
  Json all;
  for (const bool is_swap : {false, true}) {
    const auto pair = [&] {
      Json input = Json::array();
      Json output = Json::array();
      for (size_t row = 0; row < 3; ++row) {
        std::vector<uint64_t> cells, answers;
        for (size_t column = 0; column < 3; ++column) {
          cells.push_back(3 * rng.below(2));
          answers.push_back(is_swap ? 3 - cells.back() : cells.back());
        }
        input.push_back(cells);
        output.push_back(answers);
      }
      return Json{{"input", input}, {"output", output}};
    };
    Json& task = all[is_swap ? "swap" : "keep"];
    for (int64_t i = 0; i < 40; ++i) task["train"].push_back(pair());
    task["test"].push_back(pair());
  }
  return all;
}

class ArcTraining : public ::testing::Test {
 protected:
  ArcTraining() {
    write("recipe.toml", kRecipe);
    write("tasks.json", tasks().dump());
  }
  [[nodiscard]] std::string path(const std::string& name) const {
    return (dir_.path() / name).string();
  }
  void write(const std::string& name, const std::string& text) const {
    write_file_atomic(dir_.path() / name, text);
  }
  /// The recipe with some texts replaced.
  static std::string edited(const std::vector<std::pair<std::string, std::string>>& changes) {
    std::string text = kRecipe;
    for (const auto& [from, to] : changes) {
      const size_t at = text.find(from);
      EXPECT_NE(at, std::string::npos) << from;
      text.replace(at, from.size(), to);
    }
    return text;
  }
  static Outcome driftless(const std::string& arguments) {
    return driftless::testing::run_program(
        "OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 " DRIFTLESS_PROGRAM " " + arguments);
  }
  [[nodiscard]] Outcome train(const std::string& out, const std::string& more = "") const {
    return driftless("train " + path("recipe.toml") + " --data " + dir_.path().string() +
                     " --out " + path(out) + " " + more);
  }
  void augment(int64_t variants) const {
    const Outcome outcome =
        driftless("data augment " + path("tasks.json") + " --side 3 --seed 7 --variants " +
                  std::to_string(variants) + " --output " + path("set"));
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  }

  driftless::testing::TempDir dir_;
};

TEST_F(ArcTraining, LearnsRulesFromDemonstrationsAndVotes) {
  augment(5);
  const Outcome outcome = train("run");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_NE(outcome.err.find("480 boards"), std::string::npos) << "2 rules, 6 variants, 40 pairs";
  EXPECT_EQ(Json::parse(text_of(path("run/identifiers.json"))).size(), 13u);
  // The tasks' file and the data-set folder ask the same: every variant votes.
  for (const std::string data : {"tasks.json", "set"}) {
    const Outcome eval =
        driftless("eval " + path("run/weights.safetensors") + " --data " + path(data) + " --json " +
                  path("r.json") + " --submission " + path("submission.json"));
    ASSERT_EQ(eval.exit_code, 0) << eval.err;
    const Json record = Json::parse(text_of(path("r.json")));
    EXPECT_EQ(record.at("boards"), 12);
    EXPECT_EQ(record.at("pass").at(0).at("share").get<double>(), 1) << eval.out;
    EXPECT_EQ(Json::parse(text_of(path("submission.json"))).size(), 2u);
    const Outcome study = driftless("study mini-arc-ladder --rows 0 --model " +
                                    path("run/weights.safetensors") + " --data " + path(data));
    ASSERT_EQ(study.exit_code, 0) << study.err;
    EXPECT_EQ(Json::parse(study.out).at("exact").at("share"), record.at("exact").at("share"));
  }
}

TEST_F(ArcTraining, ResumesBitForBit) {
  augment(2);
  const auto train_to = [&](const std::string& out, const std::string& steps,
                            const std::string& more) {
    write("recipe.toml", edited({{"steps = 150", "steps = " + steps}, {"decay_steps = 100", ""}}));
    const Outcome outcome = train(out, more);
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  };
  train_to("straight", "20", "");
  train_to("halves", "9", "");
  train_to("halves", "20", "--resume");
  for (const char* file : {"state.safetensors", "carry-20.safetensors", "weights.safetensors"})
    EXPECT_EQ(text_of(path(std::string("halves/") + file)),
              text_of(path(std::string("straight/") + file)))
        << file;
}

TEST_F(ArcTraining, WrongData) {
  Outcome outcome = train("run");
  EXPECT_EQ(outcome.exit_code, 11) << outcome.err;
  EXPECT_NE(outcome.err.find("driftless data augment"), std::string::npos) << outcome.err;
  outcome = driftless("data augment " + path("tasks.json") + " --side 2 --seed 7 --output " +
                      path("set"));
  EXPECT_EQ(outcome.exit_code, 10);
  EXPECT_NE(outcome.err.find("task keep: "), std::string::npos) << outcome.err;
  augment(1);
  std::filesystem::copy(path("set"), path("other"), std::filesystem::copy_options::recursive);
  write("other/identifiers.json", "[\"<blank>\"]");
  write("recipe.toml", edited({{"[eval]\nfile = \"set\"", "[eval]\nfile = \"other\""}}));
  outcome = train("run");
  EXPECT_EQ(outcome.exit_code, 11) << outcome.err;
  EXPECT_NE(outcome.err.find("other rows of the puzzle table"), std::string::npos) << outcome.err;
}

/// The whole pipeline on real tasks of a 30x30 canvas, with a model that is only large enough to
/// run.
TEST_F(ArcTraining, RealTasksGoThroughThePipeline) {
  const auto file = driftless::testing::shared_path("data/arc/arc1_evaluation.json");
  DRIFTLESS_NEEDS_FILE(file);
  const Json all = Json::parse(text_of(file));
  Json few;
  for (const auto& [name, task] : all.items()) {
    few[name] = task;
    if (few.size() == 3) break;
  }
  write("few.json", few.dump());
  ASSERT_EQ(driftless("data augment " + path("few.json") + " --variants 2 --seed 1 --output " +
                      path("set"))
                .exit_code,
            0);
  write("recipe.toml",
        edited({{"seq_len = 9", "mixer = \"attention\"\npositions = \"rope\"\nnum_heads = 2"},
                {"batch = 64", "batch = 2"},
                {"steps = 150", "steps = 2"},
                {"decay_steps = 100", ""},
                {"boards = 12", "boards = 2"}}));
  const Outcome trained = train("run");
  ASSERT_EQ(trained.exit_code, 0) << trained.err;
  const Outcome eval =
      driftless("eval " + path("run/weights.safetensors") + " --data " + path("few.json") +
                " --variants 2 --steps 1 --submission " + path("submission.json"));
  ASSERT_EQ(eval.exit_code, 0) << eval.err;
  EXPECT_NE(eval.out.find("pass@2"), std::string::npos) << eval.out;
  EXPECT_EQ(Json::parse(text_of(path("submission.json"))).size(), 3u);
}

}  // namespace
}  // namespace driftless::lab
