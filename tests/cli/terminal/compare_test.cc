// SPDX-License-Identifier: Apache-2.0
// One board under several schemes, as a user sees it: driftless solve --compare.
#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "driftless/base/files/file.h"
#include "driftless/cli/terminal/pictures.h"

#include "tests/cli/program.h"
#include "tests/testing/run_in_terminal.h"

namespace driftless {
namespace {

using cli_testing::driftless;
using cli_testing::expect_failure;
using cli_testing::kBoard;
using testing::Outcome;
using testing::screen_of;
using testing::TempDir;
using testing::TerminalRun;

TEST(Pictures, StandBesideEachOtherWhileTheyFit) {
  const std::vector<std::string> pictures = {"ab\nc\n", "\x1b[1m│é\x1b[0m\n", "xyz\nxyz\n"};
  EXPECT_EQ(cli::beside(pictures, 80), "ab  \x1b[1m│é\x1b[0m  xyz\nc       xyz\n");
  EXPECT_EQ(cli::beside(pictures, 6), "ab  \x1b[1m│é\x1b[0m\nc\n\nxyz\nxyz\n");
  EXPECT_EQ(cli::beside(pictures, 1), "ab\nc\n\n\x1b[1m│é\x1b[0m\n\nxyz\nxyz\n");
  EXPECT_EQ(cli::shown_columns("\x1b[1;31m│é\x1b[0m.\x1b[0m"), 3);
  EXPECT_EQ(cli::shown_columns("ab\x1b["), 2) << "cut off";
}

TEST(Compare, PrintsCountsPerStepAndTheBoardsSideBySide) {
  const Outcome outcome = driftless("solve --compare none,int4/tensor,mxint4 " + kBoard);
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_TRUE(
      outcome.out.starts_with("cells that differ from the solution\n"
                              "step  none  int4/tensor  mxint4\n1 "))
      << outcome.out;
  EXPECT_NE(outcome.out.find("\nnone                   int4/tensor"), std::string::npos)
      << outcome.out;
  EXPECT_NE(outcome.out.find("\nsolved in "), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find(" cells wrong, "), std::string::npos) << "one scale a tensor";
  EXPECT_EQ(outcome.out.find('\x1b'), std::string::npos) << "no escapes in a pipe";
}

TEST(Compare, WritesARecordAScheme) {
  const Outcome outcome = driftless("solve --steps 2 --json --compare none,mxint4:none " + kBoard);
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const size_t end = outcome.out.find('\n');
  std::vector<std::string> schemes = {
      nlohmann::json::parse(outcome.out.substr(0, end)).at("scheme"),
      nlohmann::json::parse(outcome.out.substr(end)).at("scheme")};
  std::sort(schemes.begin(), schemes.end());
  EXPECT_EQ(schemes, (std::vector<std::string>{"mxint4:none", "none"}));
}

TEST(Compare, RunsTheSchemesOfTheOtherFlags) {
  const Outcome one = driftless("solve --json --weights int4/tensor --acts int4/tensor " + kBoard);
  ASSERT_EQ(one.exit_code, 0) << one.err;
  const Outcome both = driftless("solve --json --compare int4/tensor " + kBoard);
  auto alone = nlohmann::json::parse(one.out);
  auto compared = nlohmann::json::parse(both.out);
  EXPECT_EQ(alone.at("solved"), false);
  EXPECT_EQ(alone.at("scheme"), "int4/tensor:int4/tensor");
  EXPECT_EQ(alone.at("steps"), compared.at("steps")) << "the same numbers";
}

TEST(Compare, ChecksWhatIsAskedFor) {
  EXPECT_EQ(driftless("solve --check " + kBoard).exit_code, 0);
  const Outcome outcome = driftless("solve --check --compare none,int4/tensor " + kBoard);
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(outcome.err, "") << "the verdict says it";
  EXPECT_EQ(driftless("solve --compare none,int4/tensor --steps 2 " + kBoard).exit_code, 0);
  expect_failure(driftless("solve --compare none,,mxint4"), 10, "between two commas");
  expect_failure(driftless("solve --compare none,mxint5"), 10, "mxint5");
  expect_failure(driftless("solve --compare none --weights mxint4"), 2, "--weights");
  expect_failure(driftless("solve --delay -1"), 2, "--delay");
  expect_failure(driftless("solve " DRIFTLESS_PACKED_MODEL " --compare none,mxint4"), 10,
                 "quantized already");
}

using CompareAtATerminal = testing::TerminalTest;

TEST_F(CompareAtATerminal, RedrawsThreeSudokusIn80Columns) {
  const std::string utf8 = "TERM=xterm-256color LC_ALL=C.UTF-8 NO_COLOR= ";
  const std::string command =
      DRIFTLESS_PROGRAM " solve --steps 2 --compare none,int4/tensor,mxint4 " + kBoard;
  const TerminalRun run = testing::run_in_terminal(utf8 + command, {});
  ASSERT_EQ(run.exit_code, 0) << run.output;
  const auto screen = screen_of(run.output);
  ASSERT_EQ(screen.size(), 17u) << "name, 13 lines of board, verdict, course, the cursor's line";
  EXPECT_EQ(screen[0], "none                       int4/tensor                mxint4");
  EXPECT_EQ(screen[1],
            "╭───────┬───────┬───────╮  ╭───────┬───────┬───────╮  ╭───────┬───────┬───────╮");
  EXPECT_NE(screen[14].find("cells wrong, 2 steps"), std::string::npos) << screen[14];
  EXPECT_NE(run.output.find("step 1/2"), std::string::npos) << run.output;
  const TerminalRun narrow = testing::run_in_terminal(utf8 + command, {.rows = 20, .columns = 60});
  EXPECT_TRUE(narrow.output.starts_with("cells that differ")) << "two rows of boards have no room";
}

TEST_F(CompareAtATerminal, WaitsAsLongAsAsked) {
  const auto start = std::chrono::steady_clock::now();
  const Outcome outcome = driftless("solve --steps 3 --delay 0.2 --compare none,mxint4 " + kBoard);
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  // A step or more each, and the wait follows every one.
  EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(200));
}

}  // namespace
}  // namespace driftless
