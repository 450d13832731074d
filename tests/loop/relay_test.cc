// SPDX-License-Identifier: Apache-2.0
#include "driftless/loop/relay.h"

#include <atomic>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>

#include "driftless/base/thread_pool.h"

namespace driftless::loop {
namespace {

constexpr int64_t kParts[] = {1, 2, 8, 1, 3, 64, 2, 1};

struct Visits {
  std::vector<std::vector<int>> counts{};
  std::atomic<int> early{0};  // parts that began before the stage before them was over
  std::vector<std::atomic<int64_t>> done = std::vector<std::atomic<int64_t>>(std::size(kParts));

  Visits() {
    for (const int64_t parts : kParts) counts.emplace_back(static_cast<size_t>(parts));
  }
  void add(size_t stage, int64_t part) {
    if (stage > 0 && done[stage - 1] != kParts[stage - 1]) ++early;
    ++counts[stage][static_cast<size_t>(part)];
    ++done[stage];
  }
};

void step(Relay& relay, ThreadPool& pool, Visits& visits) {
  relay.start();
  pool.parallel_for(pool.thread_count(), [&](int64_t, int64_t worker) {
    relay.work(worker, pool.thread_count(),
               [&](size_t stage, int64_t part) { visits.add(stage, part); });
  });
}

TEST(Relay, RunsEveryPartOnceAndStagesInOrder) {
  for (const int64_t threads : {1, 2, 3, 8}) {
    ThreadPool pool(threads);
    Relay relay(kParts);
    for (int round = 0; round < 300; ++round) {
      Visits visits;
      step(relay, pool, visits);
      EXPECT_EQ(visits.early, 0);
      for (const auto& stage : visits.counts) EXPECT_EQ(stage, std::vector<int>(stage.size(), 1));
    }
  }
}

TEST(Relay, AThreadThatNeverComesHoldsNobodyUp) {
  Relay relay(kParts);
  relay.start();
  Visits visits;
  relay.work(1, 4, [&](size_t stage, int64_t part) { visits.add(stage, part); });
  EXPECT_EQ(visits.early, 0);
  for (const auto& stage : visits.counts) EXPECT_EQ(stage, std::vector<int>(stage.size(), 1));
}

TEST(Relay, AFailureEndsTheStepForAll) {
  for (const int64_t threads : {1, 2, 8}) {
    ThreadPool pool(threads);
    Relay relay(kParts);
    for (size_t bad = 0; bad < std::size(kParts); ++bad) {
      std::atomic<int> late{0};
      relay.start();
      EXPECT_THROW(pool.parallel_for(threads,
                                     [&](int64_t, int64_t worker) {
                                       relay.work(worker, threads, [&](size_t stage, int64_t) {
                                         if (stage > bad) ++late;
                                         if (stage == bad) throw std::runtime_error("bad");
                                       });
                                     }),
                   std::runtime_error);
      EXPECT_EQ(late, 0);
      Visits visits;
      step(relay, pool, visits);  // The next step is a new one.
      EXPECT_EQ(visits.early, 0);
    }
  }
}

}  // namespace
}  // namespace driftless::loop
