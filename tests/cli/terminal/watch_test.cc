// SPDX-License-Identifier: Apache-2.0
#include "driftless/cli/terminal/watch.h"

#include <csignal>
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

#include "driftless/cli/terminal/interrupt.h"

namespace driftless::cli {
namespace {

template <class Work>
std::string interruption(Work work) {
  const InterruptGuard guard;
  try {
    work();
  } catch (const Interrupted& stop) {
    return stop.what();
  }
  return "not interrupted";
}

TEST(Watch, EndsAnEvaluationAtCtrlC) {
  task::Score score;
  score.exact = {.hits = 2, .n = 3};
  const auto watch = watch_evaluation(9, "mxint4");
  EXPECT_EQ(interruption([&] { watch(3, score); }), "not interrupted");
  EXPECT_EQ(interruption([&] {
              std::raise(SIGINT);
              watch(3, score);
            }),
            "interrupted after 3 of 9 boards (2 exact); nothing was written");
  EXPECT_FALSE(was_interrupted()) << "the guard is gone";
}

TEST(Watch, EndsACalibrationAtCtrlC) {
  const reason::OnBoard watch = watch_calibration(200);
  EXPECT_EQ(interruption([&] {
              watch(6);
              std::raise(SIGINT);
              watch(7);
            }),
            "interrupted while calibrating, after 7 of 200 boards; nothing was written");
}

TEST(Watch, ExitsWithTheSignal) {
  for (const int signal : {SIGINT, SIGTERM}) {
    const InterruptGuard guard;
    std::raise(signal);
    EXPECT_TRUE(was_interrupted());
    EXPECT_EQ(Interrupted("here").exit_code(), 128 + signal);
  }
}

TEST(WatchDeathTest, WorkWithoutASafePointEndsWithinASecond) {
  const auto work = [] {
    const InterruptGuard guard;
    std::raise(SIGTERM);
    for (;;) ::pause();
  };
  EXPECT_EXIT(work(), ::testing::ExitedWithCode(128 + SIGTERM), "driftless: interrupted");
}

}  // namespace
}  // namespace driftless::cli
