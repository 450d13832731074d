// SPDX-License-Identifier: Apache-2.0
// Models that other code saved: every verb takes the file as it is and says what it found.
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "driftless/base/error.h"
#include "driftless/base/files/file.h"
#include "driftless/store/model_file.h"
#include "driftless/store/torch/yaml.h"

#include "tests/cli/dataset_folder.h"
#include "tests/cli/program.h"
#include "tests/simulate/random_model.h"
#include "tests/store/torch_bytes.h"
#include "tests/testing/temp_dir.h"

namespace driftless {
namespace {

using cli_testing::driftless;
using cli_testing::expect_failure;
using testing::Outcome;
using testing::text_of;
using Json = nlohmann::json;
namespace op = store::testing::op;

constexpr const char* kYaml =
    "arch:\n  name: recursive_reasoning.trm@TinyRecursiveReasoningModel_ACTV1\n"
    "  H_cycles: 1\n  L_cycles: 2\n  halt_max_steps: 2\n  num_heads: 4\n  pos_encodings: rope\n"
    "  puzzle_emb_len: 1\n  puzzle_emb_ndim: 32\n  forward_dtype: float32\n"
    "data_paths:\n- data/sudoku-extreme-1k\nema: true\n";

class Elsewhere : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!has_libraries()) GTEST_SKIP() << "built without yaml-cpp";
  }

  /// Whether this build reads YAML.
  bool has_libraries() const {
    write("probe", "PK\x03\x04");
    try {
      store::parse_yaml("", "");
      store::import_model(file("probe"), {});
    } catch (const Error& error) {
      return error.code() != ErrorCode::Unsupported;
    }
    return true;
  }

  static model::ModelConfig sudoku() {
    model::ModelConfig config;
    config.hidden_size = 32;
    config.num_heads = 4;
    config.puzzle_emb_len = 1;
    config.puzzle_emb_ndim = 32;
    config.h_cycles = 1;
    config.l_cycles = 2;
    config.halt_max_steps = 2;
    config.forward_dtype = model::ForwardDtype::Float32;
    return config;
  }

  std::string file(const std::string& name) const { return (dir_.path() / name).string(); }
  void write(const std::string& name, const std::string& text) const {
    write_file_atomic(dir_.path() / name, text);
  }
  void write_model(const std::string& name, const model::ModelConfig& config) const {
    store::testing::TorchArchive archive;
    const auto tensors = simulate::testing::random_checkpoint(config, 3).tensors;
    write(name, archive.file(op::ordered_dict(archive.items(tensors, "_orig_mod.model.inner."))));
  }
  void write_run() const {
    write_model("step_1", sudoku());
    write("all_config.yaml", kYaml);
    write("boards.txt", cli_testing::kBoard + "\n");
  }

  testing::TempDir dir_;
};

TEST_F(Elsewhere, ConvertPrintsWhatItFound) {
  write_run();
  const Outcome outcome = driftless("convert " + file("step_1") + " " + file("m"));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  for (const char* word :
       {"wrote a model", "architecture  trm, attention with rope", "width 32, blocks 2, heads 4",
        "cells 81, prefix rows 1", "1 x 2 cycles, 2 steps", "task          sudoku",
        "weights       averaged (saved with ema: true)", "all_config.yaml"})
    EXPECT_NE(outcome.out.find(word), std::string::npos) << word << "\n" << outcome.out;
}

TEST_F(Elsewhere, EveryVerbTakesTheFileAsItIs) {
  write_run();
  ASSERT_EQ(driftless("convert " + file("step_1") + " " + file("m")).exit_code, 0);
  const std::string data = " --data " + file("boards.txt");
  const auto expect_same = [&](const std::string& verb, const std::string& flags) {
    const Outcome converted = driftless(verb + " " + file("m") + flags);
    const Outcome direct = driftless(verb + " " + file("step_1") + flags);
    ASSERT_EQ(direct.exit_code, 0) << verb << direct.err;
    EXPECT_EQ(converted.exit_code, 0) << verb << converted.err;
    EXPECT_EQ(converted.err, "") << verb;
    EXPECT_NE(direct.err.find("step_1: architecture trm, attention with rope; sizes width 32"),
              std::string::npos)
        << verb << direct.err;
  };
  expect_same("info", "");
  expect_same("solve --json --model", " " + cli_testing::kBoard);
  expect_same("ladder", data + " --schemes none --steps 1 --json");
  expect_same("quantize", " " + file("packed") + " --weights mxint4");
  expect_same("eval", data + " --predictions " + file("p"));
}

TEST_F(Elsewhere, PredictionsAreThoseOfTheConvertedModel) {
  write_run();
  ASSERT_EQ(driftless("convert " + file("step_1") + " " + file("m")).exit_code, 0);
  const std::string flags = " --data " + file("boards.txt") + " --predictions ";
  ASSERT_EQ(driftless("eval " + file("m") + flags + file("a")).exit_code, 0);
  ASSERT_EQ(driftless("eval " + file("step_1") + flags + file("b")).exit_code, 0);
  EXPECT_EQ(text_of(file("a")), text_of(file("b")));
  EXPECT_NE(text_of(file("a")), "");
}

TEST_F(Elsewhere, WhatIsMissingIsSaidInOneLineWithTheFlagsOfConvert) {
  write_model("step_1", sudoku());
  write("boards.txt", cli_testing::kBoard + "\n");
  for (const std::string verb : {"info", "convert"}) {
    const std::string out = verb == "convert" ? " " + file("m") : "";
    expect_failure(driftless(verb + " " + file("step_1") + out), 11,
                   "--prefix-rows, --positions, --h-cycles, --l-cycles, --heads");
  }
  write("elsewhere.yaml", kYaml);
  EXPECT_EQ(driftless("convert " + file("step_1") + " " + file("m") + " --config " +
                      file("elsewhere.yaml") + " --arch trm --task sudoku")
                .exit_code,
            0);
  expect_failure(driftless("convert " + file("step_1") + " " + file("m") + " --task sudok"), 10,
                 "did you mean 'sudoku'?");
}

TEST_F(Elsewhere, AnotherTaskIsEvaluatedOnItsFolder) {
  model::ModelConfig config = sudoku();
  config.vocab_size = 20;
  config.seq_len = 6;
  write_model("step_1", config);
  write("all_config.yaml", kYaml);
  ASSERT_EQ(driftless("convert " + file("step_1") + " " + file("m") + " --cells 6").exit_code, 0);
  std::vector<task::Example> rows(3);
  for (size_t i = 0; i < rows.size(); ++i) {
    rows[i].input = simulate::testing::random_tokens(config, i);
    rows[i].label.assign(6, static_cast<uint8_t>(10 + i));
  }
  cli_testing::write_dataset(file("set"), rows, 20, {"<blank>"});
  const Outcome outcome = driftless("eval " + file("m") + " --data " + file("set/test") +
                                    " --json " + file("r") + " --predictions " + file("p"));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const Json record = Json::parse(text_of(file("r")));
  EXPECT_EQ(record.at("exact").at("n"), 3);
  std::istringstream lines(text_of(file("p")));
  std::string line;
  std::getline(lines, line);
  EXPECT_EQ(Json::parse(line).at("question").get<std::string>().size(), 6u);
  expect_failure(driftless("solve --model " + file("m") + " 123456"), 13, "data-set folder");
  write("boards.txt", "123456\n");
  expect_failure(driftless("eval " + file("m") + " --data " + file("boards.txt")), 12,
                 "expected a data-set folder");
}

TEST_F(Elsewhere, ASmallMazeIsNotTakenForALargeOne) {
  model::ModelConfig config = sudoku();
  config.vocab_size = 6;
  config.seq_len = 100;
  write_model("step_1", config);
  std::string yaml = kYaml;
  yaml.replace(yaml.find("sudoku-extreme-1k"), 17, "puzzles");
  write("all_config.yaml", yaml);
  const Outcome outcome = driftless("info " + file("step_1"));
  EXPECT_NE(outcome.err.find("assumed 900 cells a board"), std::string::npos) << outcome.err;
  ASSERT_EQ(
      driftless("data generate --task maze --count 1 --side 10 --min-path 10 --seed 1 --output " +
                file("maze.csv"))
          .exit_code,
      0);
  const std::string data = " --data " + file("maze.csv");
  const Outcome refused = driftless("eval " + file("step_1") + data);
  EXPECT_EQ(refused.exit_code, 12);
  EXPECT_NE(refused.err.find("got 100 cells, expected 900"), std::string::npos) << refused.err;
  EXPECT_NE(refused.err.find("--cells"), std::string::npos) << refused.err;
  ASSERT_EQ(driftless("convert " + file("step_1") + " " + file("m") + " --cells 100").exit_code, 0);
  EXPECT_EQ(driftless("eval " + file("m") + data).exit_code, 0);
}

TEST_F(Elsewhere, TheJsonResultHasThePublishedMetrics) {
  write_run();
  const Outcome outcome = driftless("eval " + file("step_1") + " --data " + file("boards.txt") +
                                    " --json " + file("r"));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const Json published = Json::parse(text_of(file("r"))).at("published");
  EXPECT_EQ(published.at("count"), 1);
  EXPECT_EQ(published.at("steps"), 2);
  EXPECT_EQ(published.at("exact_accuracy"), 0);
  EXPECT_GT(published.at("lm_loss"), 0);
  EXPECT_GT(published.at("q_halt_loss"), 0);
  const double accuracy = published.at("q_halt_accuracy");
  EXPECT_TRUE(accuracy == 0 || accuracy == 1);
}

}  // namespace
}  // namespace driftless
