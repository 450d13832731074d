// SPDX-License-Identifier: Apache-2.0
// driftless train as a user meets it: killed, interrupted, resumed, wrongly called, out of disk.
#include <chrono>
#include <csignal>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "driftless/base/files/file.h"
#include "driftless/base/text/text.h"

#include "tests/lab/program/train_process.h"
#include "tests/testing/run_program.h"
#include "tests/testing/temp_dir.h"

namespace driftless::lab {
namespace {

using driftless::testing::Outcome;
using driftless::testing::TempDir;
using driftless::testing::text_of;

class TrainProgram : public ::testing::Test {
 protected:
  TrainProgram() { write("recipe.toml", kProgramRecipe); }

  void write(const std::string& name, const std::string& text) {
    write_file_atomic(dir_.path() / name, text);
  }
  [[nodiscard]] std::string path(const std::string& name) const {
    return (dir_.path() / name).string();
  }
  /// `more` goes before the recipe's name is looked up: "--resume" or another flag.
  [[nodiscard]] Outcome train(const std::string& out, const std::string& more = "",
                              const std::string& recipe = "recipe.toml") const {
    return driftless::testing::run_program(
        "OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 " DRIFTLESS_PROGRAM " train " + path(recipe) +
        " --out " + path(out) + " " + more);
  }
  [[nodiscard]] std::string edited(const std::string& from, const std::string& to) const {
    std::string text = kProgramRecipe;
    const size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
  }
  static void expect_failure(const Outcome& outcome, int exit_code, const std::string& word) {
    EXPECT_EQ(outcome.exit_code, exit_code) << outcome.err;
    EXPECT_NE(outcome.err.find(word), std::string::npos) << outcome.err;
    EXPECT_EQ(outcome.out, "");
  }

  TempDir dir_;
};

bool has_temporary_file(const std::filesystem::path& folder) {
  std::error_code gone;
  for (const auto& entry : std::filesystem::directory_iterator(folder, gone))
    if (entry.path().string().find(".safetensors.tmp.") != std::string::npos) return true;
  return false;
}

/// The metrics without what depends on the clock.
std::vector<nlohmann::json> untimed_metrics(const std::filesystem::path& folder) {
  const std::string text = text_of(folder / "metrics.jsonl");
  std::vector<nlohmann::json> lines;
  for (const std::string_view line : split(text, '\n')) {
    if (line.empty()) continue;
    nlohmann::json parsed = nlohmann::json::parse(line);
    for (const char* key : {"seconds", "ms_per_step", "eval_seconds"}) parsed.erase(key);
    lines.push_back(parsed);
  }
  return lines;
}

TEST_F(TrainProgram, KilledAtAnyMomentResumesBitForBit) {
  write("recipe.toml", edited("steps = 60", "steps = 600"));
  ASSERT_EQ(train("straight").exit_code, 0);
  // Killed four times: while files are being written, and some steps after a checkpoint.
  const auto state = path("killed/state.safetensors");
  for (int64_t kills = 0; kills < 4; ++kills) {
    const bool has_state = std::filesystem::exists(state);
    const auto before = has_state ? std::filesystem::last_write_time(state)
                                  : std::filesystem::file_time_type::min();
    TrainProcess process({"train", path("recipe.toml"), "--out", path("killed")}, has_state);
    process.kill_when([&] {
      if (kills % 2 == 0) return has_temporary_file(path("killed"));
      return std::filesystem::exists(state) && std::filesystem::last_write_time(state) > before;
    });
  }
  const bool has_state = std::filesystem::exists(state);
  const Outcome last = train("killed", has_state ? "--resume" : "");
  ASSERT_EQ(last.exit_code, 0) << last.err;
  for (const char* file : {"state.safetensors", "weights.safetensors", "carry-600.safetensors"})
    EXPECT_EQ(text_of(path(std::string("killed/") + file)),
              text_of(path(std::string("straight/") + file)))
        << file;
  EXPECT_EQ(untimed_metrics(path("killed")).back(), untimed_metrics(path("straight")).back());
  EXPECT_FALSE(has_temporary_file(path("killed")));
}

TEST_F(TrainProgram, QuantizedRunsResumeBitForBit) {
  ASSERT_EQ(train("float").exit_code, 0);
  const std::string quant =
      "[quant]\nweights = \"int4/tensor\"\nacts = \"int4/tensor/static\"\nweight_method = \"lsq\"\n"
      "act_method = \"lsq\"\n[eval]";
  write("qat.toml", edited("[eval]", quant));
  const auto qat = [&](const std::string& out, const std::string& more) {
    return driftless::testing::run_program(
        "OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 " DRIFTLESS_PROGRAM " qat " + path("qat.toml") +
        " --out " + path(out) + " " + more);
  };
  const std::string from = "--from " + path("float/weights.safetensors");
  ASSERT_EQ(qat("straight", from).exit_code, 0);
  ASSERT_EQ(qat("stopped", from + " --seconds 0.1").exit_code, 0);
  ASSERT_LT(untimed_metrics(path("stopped")).back().at("step"), 60);
  const Outcome last = qat("stopped", "--resume");
  ASSERT_EQ(last.exit_code, 0) << last.err;
  for (const char* file : {"weights.safetensors", "plan.json"})
    EXPECT_EQ(text_of(path(std::string("stopped/") + file)),
              text_of(path(std::string("straight/") + file)))
        << file;
}

/// Seconds from the signal to the end.
double seconds_to_end(TrainProcess& process, int signal) {
  const auto begin = std::chrono::steady_clock::now();
  process.send(signal);
  EXPECT_EQ(process.exit_code(), 128 + signal) << process.err();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}
constexpr double kSoon = 5;  // a second, on a busy machine

TEST_F(TrainProgram, SignalsWithinAStepOfMinutesSaveAtOnce) {
  std::string slow = edited("h_cycles = 1\nl_cycles = 1", "h_cycles = 64\nl_cycles = 64");
  slow.replace(slow.find("batch = 8"), 9, "batch = 256");
  write("recipe.toml", slow);
  const std::string state = path("run/state.safetensors");
  TrainProcess process({"train", path("recipe.toml"), "--out", path("run")}, false);
  process.wait_for_file(path("run/metrics.jsonl"));
  EXPECT_LT(seconds_to_end(process, SIGINT), kSoon);
  EXPECT_NE(process.err().find("stopped after step 0 and saved"), std::string::npos)
      << process.err();
  EXPECT_TRUE(std::filesystem::exists(state));
}

TEST_F(TrainProgram, SignalsBeforeTheFirstStepLeaveNothing) {
  write("recipe.toml", edited("[model]", "[[task.pool]]\ngenerate = 100000000\nseed = 2\n[model]"));
  TrainProcess process({"train", path("recipe.toml"), "--out", path("run")}, false);
  while (process.err().find("pool: ") == std::string::npos)  // the first, which is small
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_LT(seconds_to_end(process, SIGTERM), kSoon);
  EXPECT_NE(process.err().find("interrupted"), std::string::npos) << process.err();
  EXPECT_FALSE(std::filesystem::exists(path("run")));
}

TEST_F(TrainProgram, SignalsFinishTheStepSaveAndSayHowToGoOn) {
  write("recipe.toml", edited("steps = 60", "steps = 100000000"));
  for (const int signal : {SIGINT, SIGTERM}) {
    const std::string out = "run" + std::to_string(signal);
    TrainProcess process({"train", path("recipe.toml"), "--out", path(out)}, false);
    process.wait_for_file(path(out + "/metrics.jsonl"));
    process.send(signal);
    EXPECT_EQ(process.exit_code(), 128 + signal);
    EXPECT_NE(process.err().find("--resume"), std::string::npos) << process.err();
    EXPECT_TRUE(std::filesystem::exists(path(out + "/state.safetensors")));
  }
}

TEST_F(TrainProgram, ASecondProcessInTheFolderIsRefusedAndAStoppedOneGoesOn) {
  write("recipe.toml", edited("steps = 60", "steps = 100000000"));
  TrainProcess process({"train", path("recipe.toml"), "--out", path("run")}, false);
  process.wait_for_file(path("run/state.safetensors"));
  process.send(SIGSTOP);
  expect_failure(train("run", "--resume"), 14, "another process is writing there");
  process.send(SIGCONT);
  process.send(SIGTERM);
  EXPECT_EQ(process.exit_code(), 128 + SIGTERM) << process.err();
  EXPECT_NE(process.err().find("--resume"), std::string::npos) << process.err();
}

TEST_F(TrainProgram, ResumeGoesOnWithALongerScheduleOnly) {
  ASSERT_EQ(train("run").exit_code, 0);
  expect_failure(train("run"), 10, "add --resume");
  expect_failure(train("nowhere", "--resume"), 10, "no run to resume");
  std::filesystem::create_directory(path("finished"));
  write("finished/weights.safetensors", "precious");
  expect_failure(train("finished"), 10, "holds the weights of a run");
  EXPECT_EQ(text_of(path("finished/weights.safetensors")), "precious");
  write("longer.toml", edited("steps = 60", "steps = 80\ndecay_steps = 20"));
  const Outcome longer = train("run", "--resume", "longer.toml");
  EXPECT_EQ(longer.exit_code, 0) << longer.err;
  EXPECT_EQ(untimed_metrics(path("run")).back().at("step"), 80);
  write("other.toml", edited("lr = 1e-3", "lr = 2e-3"));
  expect_failure(train("run", "--resume", "other.toml"), 11, "differing keys: train.lr;");
}

TEST_F(TrainProgram, WrongRecipesDataAndDevices) {
  write("typo.toml", edited("warmup_steps", "warmup_step"));
  expect_failure(train("run", "", "typo.toml"), 11, "typo.toml:20");
  write("twice.toml", edited("seed = 5", "seed = 5\nseed = 6"));
  expect_failure(train("run", "", "twice.toml"), 11, "twice.toml:18");
  write("seedless.toml", edited("seed = 5\n", ""));
  expect_failure(train("run", "", "seedless.toml"), 11, "train.seed");
  expect_failure(train("run", "", "nothing.toml"), 14, "nothing.toml");
  write("boards.csv", "question,answer\n#S G,#SoG\n");
  write("data.toml", edited("generate = 20\nseed = 2\nextra_clues = 4", "file = \"boards.csv\""));
  expect_failure(train("run", "--data " + dir_.path().string(), "data.toml"), 12, "boards.csv");
  expect_failure(train("run", "--device tpu"), 10, "tpu");
  expect_failure(train("run", "--from " + path("recipe.toml")), 12, "recipe.toml");
  EXPECT_FALSE(std::filesystem::exists(path("run")));
}

TEST_F(TrainProgram, FullDiskKeepsTheLastCheckpoint) {
  ASSERT_EQ(train("run").exit_code, 0);
  const std::string before = text_of(path("run/state.safetensors"));
  write("longer.toml", edited("steps = 60", "steps = 80"));
  // No file may grow past 8 blocks of 512 bytes: a write fails as on a full disk.
  const Outcome outcome = driftless::testing::run_program(
      "bash -c \"trap '' XFSZ; ulimit -f 8; exec " DRIFTLESS_PROGRAM " train " +
      path("longer.toml") + " --resume --out " + path("run") + "\"");
  EXPECT_EQ(outcome.exit_code, 14) << outcome.err;
  EXPECT_NE(outcome.err.find("cannot write"), std::string::npos) << outcome.err;
  EXPECT_EQ(text_of(path("run/state.safetensors")), before);
}

TEST_F(TrainProgram, TimeLimitSavesAndEvaluates) {
  const Outcome outcome = train("run", "--seconds 0");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("n 20 boards, step 0"), std::string::npos) << outcome.out;
}

}  // namespace
}  // namespace driftless::lab
