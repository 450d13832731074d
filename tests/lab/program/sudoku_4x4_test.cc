// SPDX-License-Identifier: Apache-2.0
// The end-to-end test of the trainer: the smallest recipe, run by the program, learns to solve
// boards that no symmetry turns into one it was trained on.
#include <filesystem>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "driftless/base/text/text.h"

#include "tests/testing/run_program.h"
#include "tests/testing/temp_dir.h"

namespace driftless::lab {
namespace {

TEST(EndToEnd, Sudoku4x4ReachesItsAccuracy) {
  const driftless::testing::TempDir dir;
  // One thread: the products are too small for two, and tests run side by side.
  const std::string out = (dir.path() / "run").string();
  const auto outcome =
      driftless::testing::run_program("OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 " DRIFTLESS_PROGRAM
                                      " train " DRIFTLESS_RECIPES "/sudoku-4x4.toml --out " +
                                      out);
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const std::string metrics = driftless::testing::text_of(dir.path() / "run/metrics.jsonl");
  const auto lines = split(metrics, '\n');
  const auto last = nlohmann::json::parse(lines[lines.size() - 2]);
  EXPECT_EQ(last.at("kind"), "eval");
  EXPECT_EQ(last.at("boards"), 256);
  EXPECT_GE(last.at("exact").get<double>(), 0.95) << metrics;
}

}  // namespace
}  // namespace driftless::lab
