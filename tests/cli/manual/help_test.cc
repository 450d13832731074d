// SPDX-License-Identifier: Apache-2.0
// What help says holds: its examples run, its choices are the ones that are taken.
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "driftless/base/files/file.h"

#include "tests/cli/program.h"

namespace driftless {
namespace {

using cli_testing::driftless;
using cli_testing::expect_failure;
using cli_testing::kBoard;
using testing::Outcome;
using testing::TempDir;

/// The command of a verb's example, without the program's name.
std::string example_of(const std::string& verb) {
  const std::string help = driftless(verb + " --help").out;
  const std::string mark = "Example: driftless ";
  const size_t at = help.find(mark);
  if (at == std::string::npos) return "";
  const size_t first = at + mark.size();
  return help.substr(first, help.find('\n', first) - first);
}

std::string absolute_program() { return std::filesystem::absolute(DRIFTLESS_PROGRAM).string(); }

/// In an order in which each finds what an earlier one wrote. Those of train, qat, convert and data
/// augment name files that only a user has.
TEST(Help, ExamplesRun) {
  const TempDir folder;
  write_file_atomic(folder.path() / "x.f32", std::string(4 * 33, '\0'));
  for (const std::string verb : {"",
                                 "solve",
                                 "eval",
                                 "ladder",
                                 "trace",
                                 "report",
                                 "bench",
                                 "quantize",
                                 "formats",
                                 "codec",
                                 "codec encode",
                                 "codec decode",
                                 "codec error",
                                 "data",
                                 "data generate",
                                 "data convert",
                                 "data check",
                                 "data stats",
                                 "info",
                                 "help"}) {
    const std::string example = example_of(verb);
    ASSERT_NE(example, "") << verb;
    const Outcome outcome = testing::run_program("cd " + folder.path().string() + " && " +
                                                 absolute_program() + " " + example);
    EXPECT_EQ(outcome.exit_code, 0) << example << "\n" << outcome.err;
  }
}

TEST(Help, ShowsChoicesAndTakesNoOthers) {
  const std::string help = driftless("eval --help").out;
  for (const char* shown : {"--halting {fixed,halt,stable}=fixed", "--dtype {f32,bf16}=f32",
                            "--device {cpu,native,cpu-torch,cuda}=cpu",
                            "--coverage {block,linear}=block", "DRIFTLESS_THREADS"})
    EXPECT_NE(help.find(shown), std::string::npos) << shown << "\n" << help;
  expect_failure(driftless("eval m --data d --coverage blok"), 2, "did you mean 'block'");
}

TEST(Help, NamesTheEnvironment) {
  const std::string help = driftless("--help").out;
  for (const char* name :
       {"DRIFTLESS_DATA", "DRIFTLESS_ISA", "DRIFTLESS_MIXERS", "DRIFTLESS_THREADS", "NO_COLOR"})
    EXPECT_NE(help.find(std::string("\n  ") + name + " "), std::string::npos) << name;
  expect_failure(driftless("eval m --data d", "DRIFTLESS_THREADS=none"), 2, "--threads");
  EXPECT_NE(driftless("bench --help", "DRIFTLESS_THREADS=3").out, "");
}

TEST(Help, ShowsAnOutputOnce) {
  for (const char* verb : {"quantize", "convert"}) {
    const std::string help = driftless(std::string(verb) + " --help").out;
    EXPECT_NE(help.find("--out TEXT REQUIRED"), std::string::npos) << help;
    EXPECT_EQ(help.find("OUT TEXT"), std::string::npos) << help;
    expect_failure(driftless(std::string(verb) + " x"), 2, "--out is required");
  }
}

TEST(Lists, EndBeforeAFile) {
  const std::string rest = " --data models/demo-sudoku.csv";
  expect_failure(driftless("ladder --schemes none " DRIFTLESS_MODEL + rest), 2, "before --schemes");
  expect_failure(driftless("study granularity" + rest + " --set steps=1 " DRIFTLESS_MODEL), 2,
                 "before --set");
}

}  // namespace
}  // namespace driftless
