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
  /// A folder as `prepare` leaves it, with a file for all sources.
  GpuTrain() {
    for (const char* folder : {"cmake", "driftless", "scripts", "../deps"})
      std::filesystem::create_directories(dir_.path() / "folder/source" / folder);
    for (const char* script : {"gpu_train", "pieces"})
      std::filesystem::copy_file(std::string(DRIFTLESS_SOURCE "/scripts/") + script,
                                 dir_.path() / "folder/source/scripts" / script);
    write("folder/source/CMakeLists.txt", "project(driftless)\n");
    write("folder/source/driftless/main.cc", "int main() {}\n");
    std::string recipe = kProgramRecipe;
    recipe.replace(recipe.find("steps = 60"), 10, "steps = 100000000");
    write("recipe.toml", recipe);
  }
  [[nodiscard]] std::string gpu_train() const { return path("folder/source/scripts/gpu_train"); }
  [[nodiscard]] Outcome leg(const std::string& machine, const std::string& out) const {
    return run_program("OMP_NUM_THREADS=1 DEVICE=cpu WORK=" + path(machine) +
                       " BINARY=" + std::filesystem::absolute(DRIFTLESS_PROGRAM).string() + " " +
                       gpu_train() + " train " + path("recipe.toml") + " 2 " + path(out));
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

/// Machines whose compilers are scripts: cmake --build gives a program and a line of its log.
class GpuBuild : public GpuTrain {
 protected:
  GpuBuild() {
    write_tool("cmake", R"(case $1 in
      --version) echo cmake 1 ;;
      --build) mkdir -p "$2/bin"; cp /bin/true "$2/bin/driftless"; echo built >> "$BUILDS" ;;
    esac)");
    write_tool("nvcc", "echo nvcc ${NVCC:-1}");
    write_tool("python3", "echo torch");
  }
  void write_tool(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories(path("tools"));
    write("tools/" + name, "#!/bin/sh\n" + text + "\n");
    std::filesystem::permissions(path("tools/" + name), std::filesystem::perms::owner_all);
  }
  /// Runs a verb on a machine; the number of programs built on all of them so far.
  int64_t after(const std::string& machine, const std::string& verb,
                const std::string& environment = "") const {
    const Outcome outcome =
        run_program(environment + " BUILDS=" + path("builds") + " PATH=" + path("tools") +
                    ":$PATH WORK=" + path(machine) + " " + gpu_train() + " " + verb);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    const std::string builds = text_of(path("builds"));
    return std::count(builds.begin(), builds.end(), '\n');
  }
  /// The packed program in a folder.
  [[nodiscard]] std::filesystem::path program(const std::string& folder) const {
    for (const auto& entry : std::filesystem::directory_iterator(dir_.path() / folder))
      if (entry.path().extension() == ".gz") return entry.path();
    return {};
  }
};

TEST_F(GpuBuild, AProgramIsBuiltOnceForItsSourcesAndCompilers) {
  EXPECT_EQ(after("machine1", "build"), 1);
  EXPECT_EQ(after("machine1", "build"), 1);
  after("machine1", "keep " + path("out"));
  ASSERT_FALSE(program("out").empty());
  std::filesystem::copy(program("out"), dir_.path() / "folder");
  EXPECT_EQ(after("machine2", "build"), 1) << "run as it came";
  after("machine2", "keep " + path("out2"));
  EXPECT_FALSE(std::filesystem::exists(path("out2"))) << "it lies in the folder already";
  EXPECT_EQ(after("machine3", "build", "NVCC=2"), 2) << "another compiler";
  write("folder/source/driftless/main.cc", "int main() { return 1; }\n");
  EXPECT_EQ(after("machine2", "build"), 3) << "other sources";
}

TEST_F(GpuBuild, ADamagedProgramIsBuiltAnew) {
  after("machine1", "build");
  after("machine1", "keep " + path("out"));
  std::filesystem::copy(program("out"), dir_.path() / "folder");
  std::filesystem::resize_file(program("folder"), 100);
  EXPECT_EQ(after("machine2", "build"), 2);
  write_tool("nvcc", "exit 1");
  EXPECT_EQ(after("machine3", "build"), 3) << "a compiler that does not say which it is";
  after("machine3", "keep " + path("out3"));
  EXPECT_FALSE(std::filesystem::exists(path("out3")));
}

}  // namespace
}  // namespace driftless::lab
