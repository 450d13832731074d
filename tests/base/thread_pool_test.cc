// SPDX-License-Identifier: Apache-2.0
#include "driftless/base/thread_pool.h"

#include <fstream>
#include <vector>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include "tests/testing/expect_error.h"
#include "tests/testing/sanitizer.h"

namespace driftless {
namespace {

TEST(ThreadPool, RunsEveryIndexOnceWithAValidWorker) {
  for (const int64_t threads : {1, 2, 3, 8}) {
    ThreadPool pool(threads);
    EXPECT_EQ(pool.thread_count(), threads);
    for (const int64_t count : {0, 1, 2, 7, 1000}) {
      std::vector<int> calls(static_cast<size_t>(count), 0);
      std::vector<int64_t> workers(static_cast<size_t>(count), -1);
      pool.parallel_for(count, [&](int64_t index, int64_t worker) {
        ++calls[static_cast<size_t>(index)];
        workers[static_cast<size_t>(index)] = worker;
      });
      EXPECT_EQ(calls, std::vector<int>(static_cast<size_t>(count), 1));
      for (const int64_t worker : workers) EXPECT_TRUE(worker >= 0 && worker < threads);
    }
  }
}

TEST(ThreadPool, RepeatsManyShortLoops) {
  ThreadPool pool(4);
  std::atomic<int64_t> sum{0};
  for (int round = 0; round < 2000; ++round)
    pool.parallel_for(3, [&](int64_t index, int64_t) { sum += index; });
  EXPECT_EQ(sum, 2000 * 3);
}

TEST(ThreadPool, PassesTheFirstExceptionOnAndStaysUsable) {
  ThreadPool pool(3);
  EXPECT_ERROR(pool.parallel_for(100,
                                 [](int64_t index, int64_t) {
                                   if (index == 5) fail(ErrorCode::Numeric, "index five");
                                 }),
               ErrorCode::Numeric, "index five");
  std::atomic<int64_t> calls{0};
  pool.parallel_for(10, [&](int64_t, int64_t) { ++calls; });
  EXPECT_EQ(calls, 10);
}

TEST(ThreadPool, RejectsBadCounts) {
  EXPECT_ERROR(ThreadPool(0), ErrorCode::InvalidArgument, "threads; got 0");
  EXPECT_ERROR(ThreadPool(1025), ErrorCode::InvalidArgument, "1025");
}

TEST(ThreadPool, AThreadThatCannotStartIsAnError) {
  if (testing::kHasSanitizer) GTEST_SKIP() << "a sanitizer needs the address space";
  int64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  rlimit limit{};
  ASSERT_EQ(getrlimit(RLIMIT_AS, &limit), 0);
  rlimit low = limit;
  constexpr rlim_t kRoom = 100 << 20;  // for a few stacks
  low.rlim_cur = static_cast<rlim_t>(pages * sysconf(_SC_PAGESIZE)) + kRoom;
  ASSERT_EQ(setrlimit(RLIMIT_AS, &low), 0);
  EXPECT_ERROR(ThreadPool(1000), ErrorCode::Unsupported, "expected 1000; ask for fewer");
  ASSERT_EQ(setrlimit(RLIMIT_AS, &limit), 0);
  EXPECT_EQ(ThreadPool(4).thread_count(), 4);
}

}  // namespace
}  // namespace driftless
