// SPDX-License-Identifier: Apache-2.0
// driftless bench of a packed model: one table, with what does not depend on the machine's speed.
#include <filesystem>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/cli/program.h"

namespace driftless {
namespace {

using cli_testing::driftless;
using cli_testing::expect_failure;
using testing::Outcome;
using testing::TempDir;

TEST(BenchPacked, HasARowForEachFileAndNumberOfThreads) {
  const TempDir dir;
  const std::string json = (dir.path() / "cost.json").string();
  const Outcome outcome =
      driftless("bench " DRIFTLESS_PACKED_MODEL
                " --boards 2 --patience 0 --threads 2 --halting stable --json " +
                json);
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  for (const char* word : {"ms a step", "ms a board", "peak", "solved", "x float", "float32",
                           "int8", "packed", "n 2 boards"})
    EXPECT_NE(outcome.out.find(word), std::string::npos) << word << "\n" << outcome.out;
  const auto result = nlohmann::json::parse(testing::text_of(json));
  const auto& rows = result.at("rows");
  ASSERT_EQ(rows.size(), 6u);
  EXPECT_EQ(result.at("source"), DRIFTLESS_MODEL) << "found by its hash";
  EXPECT_EQ(rows[0].at("file_bytes"), std::filesystem::file_size(DRIFTLESS_MODEL));
  EXPECT_EQ(rows[4].at("file_bytes"), std::filesystem::file_size(DRIFTLESS_PACKED_MODEL));
  EXPECT_GT(rows[2].at("file_bytes"), rows[4].at("file_bytes")) << "int8 beside four bits";
  for (size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(rows[i].at("threads"), i % 2 == 0 ? 1 : 2);
    EXPECT_EQ(rows[i].at("solved").at("n"), 2);
    EXPECT_EQ(rows[i].at("solved"), rows[i - i % 2].at("solved")) << "threads change no answer";
    EXPECT_GT(rows[i].at("peak_bytes"), rows[i].at("file_bytes"));
    EXPECT_GE(rows[i].at("step_ms").at("p95"), rows[i].at("step_ms").at("median"));
    EXPECT_GE(rows[i].at("board_ms").at("median"), rows[i].at("step_ms").at("median"));
  }
  EXPECT_EQ(rows[0].at("speedup"), 1);
}

TEST(BenchPacked, LeavesOutWhatHasNoSource) {
  const TempDir dir;
  const std::string alone = (dir.path() / "packed.safetensors").string();
  std::filesystem::copy_file(DRIFTLESS_PACKED_MODEL, alone);
  const Outcome outcome = driftless("bench " + alone + " --boards 1 --patience 0 --threads 1");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("name it with --source"), std::string::npos) << outcome.out;
  EXPECT_EQ(outcome.out.find("int8  "), std::string::npos) << outcome.out;
}

TEST(BenchPacked, RefusesWhatDoesNotFit) {
  expect_failure(driftless("bench " DRIFTLESS_PACKED_MODEL " --batch 4"), 2, "--batch");
  expect_failure(driftless("bench --source " DRIFTLESS_MODEL), 2, "--source");
  expect_failure(driftless("bench " DRIFTLESS_PACKED_MODEL
                           " --patience 0 --source models/maze-small.safetensors"),
                 12, "another configuration");
  expect_failure(driftless("bench models/maze-small-mxint4.safetensors"), 10,
                 "driftless data generate");
}

}  // namespace
}  // namespace driftless
