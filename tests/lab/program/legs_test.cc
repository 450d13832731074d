// SPDX-License-Identifier: Apache-2.0
// A training run in legs on machines that share nothing: scripts/gpu_train and scripts/pieces.
#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "driftless/base/files/file.h"
#include "driftless/base/rng.h"
#include "driftless/base/text/text.h"

#include "tests/lab/program/train_process.h"
#include "tests/testing/run_program.h"
#include "tests/testing/temp_dir.h"

namespace driftless::lab {
namespace {

using driftless::testing::Outcome;
using driftless::testing::run_program;
using driftless::testing::text_of;

class Legs : public ::testing::Test {
 protected:
  [[nodiscard]] std::string path(const std::string& name) const {
    return (dir_.path() / name).string();
  }
  void write(const std::string& name, const std::string& text) const {
    write_file_atomic(dir_.path() / name, text);
  }
  [[nodiscard]] static Outcome pieces(const std::string& arguments) {
    return run_program(DRIFTLESS_SOURCE "/scripts/pieces " + arguments);
  }
  /// What names one wrong thing in one line.
  void expect_refused(const std::string& word) const {
    const Outcome outcome = pieces("join " + path("out") + " " + path("joined"));
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_NE(outcome.err.find(word), std::string::npos) << outcome.err;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
    EXPECT_FALSE(std::filesystem::exists(path("joined")));
  }
  /// A file of more than two pieces.
  std::string large_file(uint64_t seed) const {
    std::string bytes(32'000'000, '\0');
    Rng rng(seed);
    for (char& byte : bytes) byte = static_cast<char>(rng.next());
    write("state", bytes);
    return bytes;
  }

  driftless::testing::TempDir dir_;
};

TEST_F(Legs, PiecesAreTheFileAgain) {
  const std::string bytes = large_file(1);
  ASSERT_EQ(pieces("split " + path("state") + " " + path("out")).exit_code, 0);
  EXPECT_EQ(std::filesystem::file_size(path("out/state.2")), 2'000'000);
  ASSERT_EQ(pieces("join " + path("out") + " " + path("joined")).exit_code, 0);
  EXPECT_TRUE(text_of(path("joined")) == bytes);
  write("state", "short");
  ASSERT_EQ(pieces("split " + path("state") + " " + path("out")).exit_code, 0);
  EXPECT_FALSE(std::filesystem::exists(path("out/state.1"))) << "of the file before";
  EXPECT_EQ(pieces("join " + path("out") + " -").out, "short");
}

TEST_F(Legs, PiecesThatAreNotTheFileAreNamed) {
  large_file(2);
  ASSERT_EQ(pieces("split " + path("state") + " " + path("another")).exit_code, 0);
  large_file(1);
  ASSERT_EQ(pieces("split " + path("state") + " " + path("out")).exit_code, 0);
  const auto options = std::filesystem::copy_options::overwrite_existing;
  std::filesystem::copy_file(path("another/state.1"), path("out/state.1"), options);
  expect_refused("out/state.1: not a piece of this file; got SHA-256");
  std::filesystem::resize_file(path("out/state.1"), 100);
  expect_refused("out/state.1: got 100 bytes, expected 15000000");
  std::filesystem::remove(path("out/state.1"));
  expect_refused("out/state.1: missing; expected 15000000 bytes");
  write("out/pieces.txt", "hash\n");
  expect_refused("out/pieces.txt: expected lines of hash, bytes and name");
  std::filesystem::remove(path("out/pieces.txt"));
  expect_refused("out/pieces.txt: No such file");
}

class GpuTrain : public Legs {
 protected:
  /// A folder as `prepare` leaves it, without what only a build needs.
  GpuTrain() {
    for (const char* script : {"gpu_train", "pieces"}) {
      std::filesystem::create_directories(dir_.path() / "folder/source/scripts");
      std::filesystem::copy_file(std::string(DRIFTLESS_SOURCE "/scripts/") + script,
                                 dir_.path() / "folder/source/scripts" / script);
    }
    std::string recipe = kProgramRecipe;
    recipe.replace(recipe.find("steps = 60"), 10, "steps = 100000000");
    write("recipe.toml", recipe);
  }
  [[nodiscard]] Outcome leg(const std::string& machine, const std::string& out) const {
    return run_program("OMP_NUM_THREADS=1 DEVICE=cpu WORK=" + path(machine) +
                       " BINARY=" + std::filesystem::absolute(DRIFTLESS_PROGRAM).string() + " " +
                       path("folder/source/scripts/gpu_train") + " train " + path("recipe.toml") +
                       " 2 " + path(out));
  }
  /// Of the lines of a leg's metrics.
  [[nodiscard]] std::vector<int64_t> steps(const std::string& out) const {
    std::vector<int64_t> found;
    const std::string metrics = text_of(path(out + "/metrics.jsonl"));
    for (const std::string_view line : split(metrics, '\n'))
      if (!line.empty()) found.push_back(nlohmann::json::parse(line).at("step"));
    return found;
  }
};

TEST_F(GpuTrain, GoesOnOnAnotherMachine) {
  const Outcome first = leg("machine1", "out1");
  ASSERT_EQ(first.exit_code, 0) << first.err;
  const Outcome joined = run_program(path("folder/source/scripts/gpu_train") + " join " +
                                     path("out1") + " " + path("folder"));
  ASSERT_EQ(joined.exit_code, 0) << joined.err;
  EXPECT_LT(std::filesystem::file_size(path("folder/state.safetensors")),
            std::filesystem::file_size(path("machine1/run/state.safetensors")) * 3 / 4);
  const Outcome second = leg("machine2", "out2");
  ASSERT_EQ(second.exit_code, 0) << second.err;
  ASSERT_GT(steps("out1").back(), 0);
  EXPECT_GE(steps("out2").front(), steps("out1").back());
  EXPECT_GT(steps("out2").back(), steps("out1").back());
}

}  // namespace
}  // namespace driftless::lab
