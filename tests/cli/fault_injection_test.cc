// SPDX-License-Identifier: Apache-2.0
// Fails the n-th allocation, open, read, write, sync, rename and thread start of a command, for
// growing n until the command passes unharmed. Each run ends in success or in one line and a code
// that docs/install.md names, and its output is whole or absent. DRIFTLESS_SOAK=1 leaves out no n.
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/cli/program.h"
#include "tests/testing/sanitizer.h"

namespace driftless::cli_testing {
namespace {

struct Command {
  const char* name;
  std::string arguments;  // before the file that it writes
};

std::ostream& operator<<(std::ostream& out, const Command& command) { return out << command.name; }

class FaultInjection : public ::testing::TestWithParam<Command> {
 protected:
  /// Whether the call came. Looks at how the run ended.
  bool run_with(const std::string& fault) {
    const testing::TempDir dir;
    const auto out = dir.path() / "out";
    const auto mark = dir.path() / "mark";
    const Outcome outcome =
        driftless(GetParam().arguments + out.string(), "DRIFTLESS_FAIL=" + fault +
                                                           " DRIFTLESS_FAILED=" + mark.string() +
                                                           " LD_PRELOAD=" DRIFTLESS_FAIL_CALLS);
    const bool came = std::filesystem::remove(mark);
    const bool is_known =
        outcome.exit_code == 0 || (outcome.exit_code >= 10 && outcome.exit_code <= 16);
    EXPECT_TRUE(is_known) << fault << ": " << outcome.exit_code << " " << outcome.err;
    if (outcome.exit_code != 0) {
      EXPECT_TRUE(outcome.err.find("driftless: ") != std::string::npos &&
                  std::count(outcome.err.begin(), outcome.err.end(), '\n') == 1)
          << fault << ": " << outcome.err;
    }
    const bool has_output = std::filesystem::exists(out);
    EXPECT_TRUE(has_output || outcome.exit_code != 0) << fault;
    if (has_output) {
      EXPECT_EQ(testing::text_of(out), expected_) << fault;
    }
    EXPECT_EQ(dir.entry_count(), has_output ? 1 : 0) << fault << ": something is left behind";
    return came;
  }

  void SetUp() override {
    if (testing::kHasSanitizer) GTEST_SKIP() << "a sanitizer comes before every other library";
    const testing::TempDir dir;
    const auto out = dir.path() / "out";
    const Outcome outcome = driftless(GetParam().arguments + out.string());
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    expected_ = testing::text_of(out);
  }

  std::string expected_;
};

TEST_P(FaultInjection, EndsInSuccessOrOneLine) {
  EXPECT_TRUE(run_with("new:1")) << "nothing fails";
  const bool is_soak = std::getenv("DRIFTLESS_SOAK") != nullptr;
  for (const char* const kind :
       {"open", "read", "write", "fsync", "rename", "mkostemp", "thread", "new"}) {
    const bool has_many = std::string(kind) == "new" && !is_soak;
    for (int64_t n = 1; n < 100000000; n = has_many ? 4 * n + 1 : n + 1)
      if (!run_with(std::string(kind) + ":" + std::to_string(n)) || HasFailure()) break;
  }
}

TEST_P(FaultInjection, StartsNoProgramAndOpensNoConnection) {
  EXPECT_FALSE(run_with("start:1"));
  EXPECT_FALSE(run_with("socket:1"));
}

const std::string kModel = DRIFTLESS_MODEL;

INSTANTIATE_TEST_SUITE_P(
    Of, FaultInjection,
    ::testing::Values(
        Command{"convert", "convert " + kModel + " --out "},
        Command{"quantize", "quantize " + kModel + " --weights mxint4 --out "},
        Command{"generate", "data generate --task sudoku --count 2 --seed 1 --out "},
        Command{"boards", "data convert models/demo-sudoku.csv --out "},
        Command{"predict",
                "eval " DRIFTLESS_PACKED_MODEL
                " --native --data models/demo-sudoku.csv --limit 1 --steps 1 --threads 2 "
                "--predictions "},
        Command{
            "simulate",
            "eval " + kModel +
                " --data models/demo-sudoku.csv --limit 1 --steps 1 --threads 2 --predictions "}),
    [](const auto& param) { return std::string(param.param.name); });

}  // namespace
}  // namespace driftless::cli_testing
