// SPDX-License-Identifier: Apache-2.0
// Files that are none, numbers that are too large, and a machine that has no more to give: one line
// and the exit code that docs/install.md names.
#include <chrono>
#include <csignal>
#include <fstream>
#include <string>
#include <vector>

#include <sys/stat.h>

#include "tests/cli/program.h"
#include "tests/testing/sanitizer.h"

namespace driftless::cli_testing {
namespace {

const std::string kModel = DRIFTLESS_MODEL;
const std::string kData = "models/demo-sudoku.csv";
const std::string kEval = "eval " + kModel + " --data " + kData + " --limit 1 --steps 1 ";

/// What each verb that reads says of a file.
std::vector<std::string> readers_of(const std::string& file, const std::string& out) {
  return {"info " + file,
          "eval " + file + " --data " + kData,
          "eval " + kModel + " --data " + file,
          kEval + "--plan " + file,
          kEval + "--weights int8 --acts int8/tensor/static --calibration-data " + file,
          "ladder " + file + " --data " + kData,
          "study " + file + " --model " + kModel + " --data " + kData,
          "report " + file + " --out " + out,
          "quantize " + file + " " + out + " --weights mxint4",
          "convert " + file + " " + out,
          "convert " + kModel + " " + out + " --config " + file,
          "data check " + file,
          "data stats " + file,
          "bench " + file};
}

TEST(Faults, AFileThatIsNoneIsNamedAndNobodyWaitsForIt) {
  const testing::TempDir dir;
  const std::string pipe = (dir.path() / "pipe").string();
  const std::string loop = (dir.path() / "loop").string();
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  std::filesystem::create_symlink("loop", loop);
  for (const std::string& file : {pipe, loop, std::string(300, 'x')})
    for (const std::string& arguments : readers_of(file, (dir.path() / "out").string())) {
      const Outcome outcome = testing::run_program("timeout 20 " DRIFTLESS_PROGRAM " " + arguments);
      EXPECT_TRUE(outcome.exit_code == 14 || outcome.exit_code == 2 || outcome.exit_code == 10)
          << arguments << ": " << outcome.exit_code << " " << outcome.err;
      EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
      EXPECT_NE(outcome.err.find(file.substr(0, 20)), std::string::npos) << outcome.err;
    }
  EXPECT_EQ(dir.entry_count(), 2);
}

TEST(Faults, NumbersThatDoNotFitAreWrongUsage) {
  for (const char* const flags :
       {"--threads 2147483648", "--threads 0", "--threads 1025", "--seed 12345678901234567890123",
        "--seed -1", "--steps 99999999999", "--limit 99999999999999999999999", "--batch 0",
        "--batch 4294967296", "--plan ''", "--predictions ''"})
    expect_failure(driftless(kEval + flags), 2, "expected");
}

TEST(Faults, AThreadThatCannotStartEndsTheRunWithOneLine) {
  if (testing::kHasSanitizer) GTEST_SKIP() << "a sanitizer needs the address space";
  for (const char* const flags : {"", "--native --weights mxint4 --acts mxint4"}) {
    const Outcome outcome = testing::run_program("ulimit -v 400000; " DRIFTLESS_PROGRAM " " +
                                                 kEval + "--threads 64 " + flags);
    expect_failure(outcome, 13, "the system starts no more of them");
  }
}

TEST(Faults, LittleMemoryIsOneLine) {
  if (testing::kHasSanitizer) GTEST_SKIP() << "a sanitizer needs the address space";
  int64_t successes = 0;
  for (int kilobytes = 60000; kilobytes <= 180000; kilobytes += 6000) {
    const Outcome outcome =
        testing::run_program("ulimit -v " + std::to_string(kilobytes) + "; " DRIFTLESS_PROGRAM " " +
                             kEval + "--threads 2");
    if (outcome.exit_code == 127) continue;  // not even the libraries fit
    EXPECT_TRUE(outcome.exit_code == 0 || outcome.exit_code == 13 || outcome.exit_code == 16)
        << kilobytes << " kB: " << outcome.exit_code << " " << outcome.err;
    if (outcome.exit_code == 0) ++successes;
  }
  EXPECT_GT(successes, 0);
}

TEST(Faults, MessagesAreOneLineWithoutControlCharacters) {
  const std::string name = "$(printf 'no\\033[2Jsuch\\nfile')";
  const Outcome missing = driftless("info \"" + name + "\"");
  expect_failure(missing, 14, "no\\x1b[2Jsuch\\x0afile");
  const Outcome flag = driftless("info --\"" + name + "\"");
  expect_failure(flag, 2, "\\x1b");
  const Outcome long_one = driftless("info $(head -c 100000 /dev/zero | tr '\\0' x)");
  EXPECT_NE(long_one.exit_code, 0);
  EXPECT_LT(long_one.err.size(), 24u * 80u);
}

TEST(Faults, AReportOfNothingIsAnError) {
  const testing::TempDir dir;
  const auto path = dir.path() / "results.jsonl";
  std::ofstream file(path);
  for (int i = 0; i < 1000; ++i) file << "{\"no\": \"record\"}\n";
  file.close();
  const Outcome outcome =
      driftless("report " + path.string() + " --out " + (dir.path() / "r.html").string());
  EXPECT_EQ(outcome.exit_code, 12) << outcome.err;
  EXPECT_NE(outcome.err.find("nothing to report; got 1000 lines, all skipped"), std::string::npos);
  EXPECT_LE(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 24);
  EXPECT_FALSE(std::filesystem::exists(dir.path() / "r.html"));
  std::ofstream(path, std::ios::trunc).close();
  expect_failure(
      driftless("report " + path.string() + " --out " + (dir.path() / "r.html").string()), 12,
      "nothing to report; got an empty file");
}

/// What is asked to stop after a second does, with the signal's code, and writes nothing.
void expect_end(const std::string& work, int signal, const testing::TempDir& dir) {
  const auto begin = std::chrono::steady_clock::now();
  const Outcome outcome =
      testing::run_program("timeout --preserve-status -s " + std::to_string(signal) +
                           " 1 " DRIFTLESS_PROGRAM " " + work);
  const auto took = std::chrono::steady_clock::now() - begin;
  EXPECT_EQ(outcome.exit_code, 128 + signal) << work << outcome.err;
  EXPECT_LT(took, std::chrono::seconds(5)) << work;  // a second, and a busy machine
  EXPECT_EQ(dir.entry_count(), 0) << work;
}

TEST(Faults, SignalsEndLongWorkWithinTwoSeconds) {
  const testing::TempDir dir;
  const std::string scheme = " --weights int8/channel --acts int8/tensor/static ";
  const std::string out = (dir.path() / "out").string();
  for (const std::string& work :
       {"eval " + kModel + " --data " + kData + scheme + "--calibration-boards 100000",
        "quantize " + kModel + " " + out + scheme + "--calibration-boards 100000",
        "ladder " + kModel + " --data " + kData + " --steps 100000 --json " + out,
        std::string("data generate --task sudoku --count 100000000 --seed 1 --out ") + out})
    for (const int signal : {SIGINT, SIGTERM}) expect_end(work, signal, dir);
}

/// One signal each, as both are handled alike.
TEST(Faults, SignalsEndEveryOtherLongVerb) {
  const testing::TempDir dir;
  const std::string on_boards = " " + kModel + " --data " + kData + " --limit 1 --steps 10000 ";
  const std::string out = (dir.path() / "out").string();
  int signal = SIGINT;
  for (const std::string& work :
       {"study granularity " + kModel + " --data " + kData,
        "recommend" + on_boards + "--probe-boards 1 --out " + out,
        "trace" + on_boards + "--schemes none --out " + out,
        "accumulators" + on_boards + "--json " + out,
        "bench " + kModel + " --patience 0 --rounds 1000000 --json " + out,
        "quantize " + kModel + " " + out + " --bits 4.25 --calibration-boards 100000"}) {
    expect_end(work, signal, dir);
    signal = signal == SIGINT ? SIGTERM : SIGINT;
  }
}

}  // namespace
}  // namespace driftless::cli_testing
