// SPDX-License-Identifier: Apache-2.0
#include "driftless/run/deploy/deployment.h"

#include <stdexcept>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include "driftless/run/deploy/child_process.h"

#include "tests/run/answer_reasoner.h"
#include "tests/testing/expect_error.h"

namespace driftless::run {
namespace {

using testing::AnswerReasoner;
using testing::Prepared;

const task::Task& task_of_two_cells() {
  static const task::Task task = [] {
    task::Task row = task::find_task("maze");
    row.check = task::check_counted_cells;
    return row;
  }();
  return task;
}

/// Says `tokens` to every board, and wants to stop at once or never.
Contestant saying(std::string name, int64_t threads, std::vector<uint8_t> tokens, float halt) {
  return {std::move(name), threads,
          std::make_unique<AnswerReasoner>(4, 2, [=](const reason::Board&) {
            return Prepared{tokens, halt};
          })};
}

std::vector<task::Example> three_boards() {
  std::vector<task::Example> boards(3);
  for (task::Example& board : boards) board.input = {1, 1};
  boards[0].label = boards[1].label = {1, 2};
  boards[2].label = {3, 3};
  return boards;
}

TEST(Deployments, AreTimedAndScoredBoardByBoard) {
  std::vector<Contestant> contestants;
  contestants.push_back(saying("a", 1, {1, 2}, 1));
  contestants.push_back(saying("b", 1, {3, 3}, -1));
  int64_t seen = 0;
  const auto rows = race_deployments(contestants, task_of_two_cells(), three_boards(),
                                     {.halting = reason::find_halting("halt"),
                                      .max_steps = 4,
                                      .watch = [&](int64_t done) { seen = done; }});
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(seen, 3);
  EXPECT_EQ(rows[0].score.exact, (task::Share{2, 3}));
  EXPECT_EQ(rows[1].score.exact, (task::Share{1, 3}));
  EXPECT_EQ(rows[0].step_ms.size(), 3u) << "a step a board, the warm-up not counted";
  EXPECT_EQ(rows[1].step_ms.size(), 12u);
  EXPECT_EQ(rows[1].board_ms.size(), 3u);
  EXPECT_EQ(rows[1].score.mean_steps(), 4);
}

TEST(Deployments, MustAnswerTheSameOnAllThreads) {
  std::vector<Contestant> contestants;
  contestants.push_back(saying("a", 1, {1, 2}, 1));
  contestants.push_back(saying("a", 2, {1, 3}, 1));
  EXPECT_ERROR(race_deployments(contestants, task_of_two_cells(), three_boards(),
                                {.halting = reason::find_halting("halt"), .max_steps = 1}),
               ErrorCode::Internal, "a answered differently on 2 and on 1 threads");
}

TEST(Deployments, QuantilesAreByNearestRank) {
  const std::vector<double> values = {5, 1, 4, 2, 3};
  EXPECT_EQ(quantile(values, 0.5), 3);
  EXPECT_EQ(quantile(values, 0.95), 5);
  EXPECT_EQ(quantile(values, 0), 1);
  EXPECT_EQ(quantile({7}, 0.95), 7);
  std::vector<double> many;
  for (int i = 1; i <= 100; ++i) many.push_back(i);
  EXPECT_EQ(quantile(many, 0.95), 95);
  const DeploymentRow base{.name = "f", .threads = 1, .mean_step_ms = {10, 12, 30}};
  const DeploymentRow row{.name = "x", .threads = 1, .mean_step_ms = {5, 4, 3}};
  EXPECT_EQ(speedup(row, base), 3) << "the median of 2, 3 and 10";
}

TEST(ChildProcess, CountsItsOwnMemory) {
  constexpr int64_t kBytes = 64 << 20;
  const int64_t idle = peak_memory_of([] {});
  const int64_t busy = peak_memory_of([] {
    const std::vector<char> touched(kBytes, 1);
    if (touched[kBytes / 2] != 1) throw Error(ErrorCode::Internal, "unreachable");
  });
  EXPECT_GT(idle, 0);
  EXPECT_GE(busy, kBytes);
  EXPECT_LT(peak_memory_of([] {}), busy) << "the next child does not inherit it";
}

TEST(ChildProcess, HandsErrorsOn) {
  EXPECT_ERROR(peak_memory_of([] { fail(ErrorCode::BadFile, "broken 1 2"); }), ErrorCode::BadFile,
               "broken 1 2");
  EXPECT_ERROR(peak_memory_of([] { throw std::runtime_error("odd"); }), ErrorCode::Internal, "odd");
  EXPECT_ERROR(peak_memory_of([] { ::_exit(3); }), ErrorCode::Internal, "without a result");
}

}  // namespace
}  // namespace driftless::run
