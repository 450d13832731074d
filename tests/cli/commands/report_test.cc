// SPDX-License-Identifier: Apache-2.0
// driftless trace and report as a user meets them, with the bundled model.
#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "driftless/base/files/file.h"
#include "driftless/study/record/trace.h"

#include "tests/cli/program.h"

namespace driftless {
namespace {

using cli_testing::driftless;
using cli_testing::expect_failure;
using testing::Outcome;
using testing::TempDir;

const std::filesystem::path kModels = std::filesystem::path(DRIFTLESS_MODEL).parent_path();

class Report : public ::testing::Test {
 protected:
  [[nodiscard]] std::string file(const std::string& name) const {
    return (dir_.path() / name).string();
  }
  TempDir dir_;
};

TEST_F(Report, ATraceGoesIntoAPage) {
  const Outcome traced =
      driftless("trace " DRIFTLESS_MODEL " --data " + (kModels / "demo-sudoku.csv").string() +
                " --limit 1 --steps 2 --schemes none mxint4 --out " + file("trace.json"));
  ASSERT_EQ(traced.exit_code, 0) << traced.err;
  EXPECT_NE(traced.out.find("1 boards, 2 schemes, 2 steps"), std::string::npos) << traced.out;
  study::require_trace(study::Json::parse(testing::text_of(file("trace.json"))), "trace");
  const Outcome reported = driftless("report " + file("trace.json") + " --out " + file("r.html"));
  if (reported.err.find("node-d3") != std::string::npos) GTEST_SKIP() << reported.err;
  ASSERT_EQ(reported.exit_code, 0) << reported.err;
  EXPECT_NE(reported.out.find("0 records, 1 traces"), std::string::npos) << reported.out;
  EXPECT_NE(testing::text_of(file("r.html")).find("\"task\":\"sudoku\""), std::string::npos);
}

TEST_F(Report, SkippedLinesAreCountedAndNamed) {
  write_file_atomic(file("cut.jsonl"),
                    "{\"schema\": 1, \"study\"\n{\"schema\": 99}\n"
                    R"({"claim":"c","source":"s","theirs":"t","reason":"r",)"
                    R"("study":null,"ours":null,"verdict":null})");
  const Outcome outcome = driftless("report " + file("cut.jsonl") + " --out " + file("r.html"));
  if (outcome.err.find("node-d3") != std::string::npos) GTEST_SKIP() << outcome.err;
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("2 lines skipped"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.err.find("cut.jsonl:1"), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("cut.jsonl:2"), std::string::npos) << outcome.err;
}

TEST_F(Report, TheProjectsOwnResultsAreSound) {
  const std::filesystem::path results = kModels.parent_path() / "docs" / "results";
  std::string files;
  for (const auto& entry : std::filesystem::directory_iterator(results))
    if (entry.path().extension() == ".jsonl" || entry.path().extension() == ".json")
      files += entry.path().string() + " ";
  ASSERT_NE(files, "");
  const Outcome outcome = driftless("report " + files + "--out " + file("r.html"));
  if (outcome.err.find("node-d3") != std::string::npos) GTEST_SKIP() << outcome.err;
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find(" 0 lines skipped"), std::string::npos) << outcome.err;
}

TEST_F(Report, FilesThatCannotBeReadOrWrittenAreErrors) {
  write_file_atomic(file("empty.jsonl"), "");
  expect_failure(driftless("report " + file("none.jsonl") + " --out " + file("r.html")), 14,
                 "none.jsonl");
  const Outcome unwritable =
      driftless("report " + file("empty.jsonl") + " --out " + file("no/such/r.html"));
  if (unwritable.err.find("node-d3") != std::string::npos) GTEST_SKIP() << unwritable.err;
  expect_failure(unwritable, 14, "r.html");
}

}  // namespace
}  // namespace driftless
