// SPDX-License-Identifier: Apache-2.0
// Commands that are killed, stopped and continued, run twice at once, cut off from power or short
// of disk: outputs are the old ones or the whole new ones, and the next run ends as an undisturbed
// one.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "driftless/base/rng.h"

#include "tests/cli/faults/jobs.h"
#include "tests/testing/sanitizer.h"

namespace driftless::cli_testing {
namespace {

namespace fs = std::filesystem;
using Lines = std::vector<std::string>;
using testing::text_of;

constexpr const char* kOld = "what was there before\n";
const std::string kPreload = " LD_PRELOAD=" DRIFTLESS_FAIL_CALLS " ";

class Disturbed : public ::testing::TestWithParam<Job> {
 protected:
  /// Where a disturbed run writes.
  struct Place {
    testing::TempDir dir{};
    fs::path out = dir.path() / "out.jsonl";
  };

  void SetUp() override {
    if (testing::kHasSanitizer) GTEST_SKIP() << "too slow with a sanitizer";
    const Place place;
    const auto begin = std::chrono::steady_clock::now();
    run_whole(place);
    duration_s_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    expected_ = comparable_lines(text_of(place.out));
    entries_ = place.dir.entry_count();
    ASSERT_FALSE(expected_.empty());
  }

  std::string command(const Place& place) const {
    ++cases_;
    return DRIFTLESS_PROGRAM " " + GetParam().arguments + place.out.string();
  }

  void run_whole(const Place& place) const {
    const Outcome outcome = testing::run_program(command(place));
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  }

  /// Something to lose. Files of records are only added to.
  void put_old(const Place& place) const {
    if (!GetParam().adds_lines) std::ofstream(place.out) << kOld;
  }

  /// What may be there after an end at any time.
  void expect_old_or_whole(const Place& place) const {
    const std::string text = text_of(place.out);
    if (GetParam().adds_lines) {
      Lines lines = comparable_lines(text.substr(0, text.rfind('\n') + 1));
      ASSERT_LE(lines.size(), expected_.size());
      EXPECT_TRUE(std::equal(lines.begin(), lines.end(), expected_.begin()));
      return;
    }
    if (!fs::exists(place.out) || text == kOld) return;
    EXPECT_EQ(comparable_lines(text), expected_);
  }

  /// The next run ends as if nothing had happened and leaves nothing else behind.
  void expect_mended(const Place& place) const {
    run_whole(place);
    EXPECT_EQ(comparable_lines(text_of(place.out)), expected_);
    EXPECT_EQ(place.dir.entry_count(), entries_) << "something is left behind";
  }

  /// Some moment of a run, in seconds for the shell.
  std::string moment() { return std::to_string(1.1 * duration_s_ * rng_.uniform()); }

  void TearDown() override { std::printf("cases: %lld\n", static_cast<long long>(cases_)); }

  mutable int64_t cases_ = 0;
  double duration_s_ = 0;
  Lines expected_;
  int64_t entries_ = 0;
  Rng rng_{20};
};

TEST_P(Disturbed, KilledAtAnyMoment) {
  for (int64_t i = rounds(3); i > 0 && !HasFailure(); --i) {
    const Place place;
    put_old(place);
    const std::string after = moment();
    SCOPED_TRACE("killed after " + after + " s");
    // It is waited for: a killed program that the disk holds up still has its locks.
    const Outcome outcome =
        testing::run_program(command(place) + " & job=$!; sleep " + after +
                             "; kill -KILL $job 2>/dev/null; wait $job 2>/dev/null");
    EXPECT_TRUE(outcome.exit_code == 0 || outcome.exit_code == 128 + SIGKILL)
        << outcome.exit_code << outcome.err;
    expect_old_or_whole(place);
    expect_mended(place);
  }
}

TEST_P(Disturbed, StoppedAndContinuedEndsAsEver) {
  for (int64_t i = rounds(2); i > 0 && !HasFailure(); --i) {
    const Place place;
    put_old(place);
    const std::string after = moment();
    SCOPED_TRACE("stopped after " + after + " s");
    const Outcome outcome = testing::run_program(
        "(" + command(place) + " & job=$!; sleep " + after +
        "; kill -STOP $job 2>/dev/null; sleep 0.03; kill -CONT $job 2>/dev/null; wait $job)");
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_EQ(comparable_lines(text_of(place.out)), expected_);
  }
}

TEST_P(Disturbed, TwoWritersDoNotMix) {
  for (int64_t i = rounds(1); i > 0 && !HasFailure(); --i) {
    const Place place;
    put_old(place);
    const Outcome outcome =
        testing::run_program("(" + command(place) + " & job=$!; " + command(place) +
                             "; second=$?; wait $job; " + "echo codes $? $second)");
    const bool is_refused = outcome.out.find("codes 0 14") != std::string::npos ||
                            outcome.out.find("codes 14 0") != std::string::npos;
    EXPECT_TRUE(outcome.out.find("codes 0 0") != std::string::npos ||
                (GetParam().adds_lines && is_refused))
        << outcome.out << outcome.err;
    EXPECT_EQ(comparable_lines(text_of(place.out)), expected_);
    EXPECT_EQ(place.dir.entry_count(), entries_);
  }
}

TEST_P(Disturbed, PowerThatFailsLeavesTheOldOrTheNew) {
  int64_t cuts = 0;
  for (bool came = true; came && !HasFailure(); ++cuts) {
    const Place place;
    put_old(place);
    const std::string fault = "cut:" + std::to_string(cuts + 1);
    SCOPED_TRACE(fault);
    const Outcome outcome =
        testing::run_program("DRIFTLESS_FAIL=" + fault + kPreload + command(place));
    came = outcome.exit_code == 128 + SIGKILL;
    EXPECT_TRUE(came || outcome.exit_code == 0) << outcome.exit_code << outcome.err;
    expect_old_or_whole(place);
    expect_mended(place);
  }
  EXPECT_GT(cuts, 3) << "no change of a file was seen";
}

TEST_P(Disturbed, AFullDiskIsOneLineAndLeavesTheOld) {
  int64_t failures = 0;
  for (bool is_full = true; is_full && !HasFailure(); ++failures) {
    const Place place;
    put_old(place);
    const std::string fault = "full:" + std::to_string(failures + 1);
    SCOPED_TRACE(fault);
    const Outcome outcome =
        testing::run_program("DRIFTLESS_FAIL=" + fault + kPreload + command(place));
    is_full = outcome.exit_code != 0;
    if (!is_full) break;
    EXPECT_EQ(outcome.exit_code, 14) << outcome.err;
    EXPECT_NE(outcome.err.find("No space left"), std::string::npos) << outcome.err;
    expect_old_or_whole(place);
    expect_mended(place);
  }
  EXPECT_GT(failures, 0) << "no write was seen";
}

INSTANTIATE_TEST_SUITE_P(Of, Disturbed, ::testing::ValuesIn(jobs()),
                         [](const auto& param) { return std::string(param.param.name); });

}  // namespace
}  // namespace driftless::cli_testing
