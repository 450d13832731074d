// SPDX-License-Identifier: Apache-2.0
// Where the program looks for its models and recipes, and what it says where they are missing.
#include "driftless/cli/data_folder.h"

#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "tests/cli/program.h"

namespace driftless {
namespace {

using cli_testing::driftless;
using cli_testing::expect_failure;
using testing::TempDir;
namespace fs = std::filesystem;

/// A tree of its own with a copy of the program in bin/.
fs::path copied_program(const TempDir& tree) {
  fs::create_directory(tree.path() / "bin");
  fs::path copy = tree.path() / "bin" / "driftless";
  fs::copy_file(DRIFTLESS_PROGRAM, copy);
  return copy;
}

TEST(DataFolder, TheBuildTreeHasTheInstalledOnesShape) {
  EXPECT_TRUE(fs::equivalent(cli::data_folder("models"), fs::path(DRIFTLESS_MODEL).parent_path()));
  EXPECT_TRUE(fs::exists(cli::data_folder("recipes") / "study" / "granularity.toml"));
}

TEST(DataFolder, ACopiedProgramLooksBesideItself) {
  const TempDir tree;
  const fs::path program = copied_program(tree);
  const fs::path models = tree.path() / "share" / "driftless" / "models";
  const std::string solve = "env -i " + program.string() + " solve --native " + cli_testing::kBoard;
  expect_failure(testing::run_program(solve), 14, models.string() + ": no such folder");
  fs::create_directories(models);
  fs::create_symlink(fs::absolute(DRIFTLESS_PACKED_MODEL),
                     models / fs::path(DRIFTLESS_PACKED_MODEL).filename());
  EXPECT_EQ(testing::run_program(solve).exit_code, 0);
  // Through a link elsewhere, too.
  const TempDir other;
  fs::create_symlink(program, other.path() / "dl");
  const std::string link = (other.path() / "dl").string();
  EXPECT_EQ(
      testing::run_program("env -i " + link + " solve --native " + cli_testing::kBoard).exit_code,
      0);
}

TEST(DataFolder, TheEnvironmentNamesAnother) {
  const TempDir data;
  const std::string named = "DRIFTLESS_DATA=" + data.path().string();
  const std::string looked = (data.path() / "models").string() + ": no such folder";
  expect_failure(driftless("solve " + cli_testing::kBoard, named), 14, looked);
  expect_failure(driftless("bench", named), 14, looked);
  expect_failure(driftless("study granularity --data x.csv", named), 14, looked);
  expect_failure(driftless("study granularity --data x.csv --model m.safetensors", named), 14,
                 (data.path() / "recipes").string() + ": no such folder");
  // What needs no data does not ask for it.
  EXPECT_EQ(driftless("formats", named).exit_code, 0);
  EXPECT_EQ(driftless("--help", named).exit_code, 0);
  EXPECT_EQ(driftless("", named).exit_code, 0);
  fs::create_directory_symlink(fs::absolute(DRIFTLESS_MODEL).parent_path(), data.path() / "models");
  EXPECT_EQ(driftless("solve --native " + cli_testing::kBoard, named).exit_code, 0);
  EXPECT_EQ(driftless("solve --native " + cli_testing::kBoard, "DRIFTLESS_DATA=").exit_code, 0);
}

TEST(DataFolder, ExamplesOfTheHelpWorkInEveryFolder) {
  const TempDir here;
  const std::string go = "cd " + here.path().string() + " && ";
  const std::string program = fs::absolute(DRIFTLESS_PROGRAM).string();
  const std::string info = go + program + " info models/sudoku-small.safetensors";
  EXPECT_EQ(testing::run_program(info).exit_code, 0);
  expect_failure(testing::run_program(go + program + " info models/absent.safetensors"), 14,
                 "models/absent.safetensors");
  // What is there comes first.
  fs::create_directory(here.path() / "models");
  std::ofstream(here.path() / "models" / "sudoku-small.safetensors") << "not a model";
  expect_failure(testing::run_program(info), 12, "models/sudoku-small.safetensors");
}

}  // namespace
}  // namespace driftless
