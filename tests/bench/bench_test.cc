// SPDX-License-Identifier: Apache-2.0
// What does not depend on the machine's speed: that answers are checked, counts are right, and
// counters of energy are read as they are meant.
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <sched.h>

#include "driftless/base/error.h"
#include "driftless/base/files/file.h"
#include "driftless/bench/calm.h"
#include "driftless/bench/energy.h"
#include "driftless/bench/gemm.h"
#include "driftless/bench/peaks.h"
#include "driftless/bench/steps.h"
#include "driftless/integer/kernels/kernel_set.h"

#include "tests/testing/expect_error.h"
#include "tests/testing/temp_dir.h"

namespace driftless::bench {
namespace {

TEST(Peaks, CountWhatTheyRepeat) {
  for (const PeakKernel& kernel : peak_kernels()) {
    SCOPED_TRACE(kernel.name);
    EXPECT_GT(kernel.run(1), 0);
    EXPECT_EQ(kernel.run(10), 10 * kernel.run(1));
  }
  EXPECT_EQ(int8_peak().name, integer::kernels().name);
  EXPECT_EQ(peak_kernels().back().name, "scalar");
}

TEST(Peaks, OfInstructionsBeyondTheLimitAreLeftOut) {
  ASSERT_EQ(setenv("DRIFTLESS_ISA", "scalar", 1), 0);
  const auto scalar = peak_kernels();
  ASSERT_EQ(unsetenv("DRIFTLESS_ISA"), 0);
  ASSERT_EQ(scalar.size(), 1u);
  EXPECT_EQ(scalar.front().name, "scalar");
}

TEST(Peaks, OfTwoThreadsAreTwiceTheWork) {
  ThreadPool one(1);
  ThreadPool two(2);
  const PeakKernel kernel = int8_peak();
  const Contender contender = peak_contender(kernel, two);
  EXPECT_GT(contender.timed_work(), 0);
  // The number of rounds is a power of two, found by timing.
  const double rounds = contender.operations / 2 / 2 / static_cast<double>(kernel.run(1));
  EXPECT_EQ(rounds, std::exp2(std::round(std::log2(rounds))));
  EXPECT_GT(rounds, 0);
}

TEST(Race, KeepsTheBestTimeAndTakesTurns) {
  std::vector<int> order;
  std::vector<Contender> contenders = {{.name = "a", .work = [&] { order.push_back(0); }},
                                       {.name = "b", .work = [&] { order.push_back(1); }}};
  race(contenders, 2);
  EXPECT_EQ(order, (std::vector<int>{0, 0, 0, 1, 1, 1, 0, 0, 0, 1, 1, 1}));
  EXPECT_EQ(contenders[0].seconds.size(), 6u);
}

TEST(Race, EndsATurnWithWhatComesAfterIt) {
  std::string order;
  std::vector<Contender> contenders = {
      {.name = "a", .work = [&] { order += 'a'; }, .after = [&] { order += '.'; }},
      {.name = "b", .work = [&] { order += 'b'; }}};
  race(contenders, 1);
  EXPECT_EQ(order, "aaa.bbb");
}

TEST(Race, RatesAreMediansAndBests) {
  const Contender contender{.name = "a", .operations = 6e9, .seconds = {3, 1, 2}};
  EXPECT_EQ(contender.median_gflops(), 3);
  EXPECT_EQ(contender.best_gflops(), 6);
}

TEST(Race, APeakThatWasDisturbedGetsMoreRounds) {
  int left = 10;
  Contender peak{.name = "peak",
                 .timed_work = [&] { return --left > 0 ? 4.0 : 1.0; },
                 .operations = 4e9,
                 .seconds = {4}};
  repeat_while_outrun(peak, 1);
  EXPECT_EQ(left, 10) << "no more than needed";
  repeat_while_outrun(peak, 3);
  EXPECT_EQ(peak.best_gflops(), 4);
}

TEST(Race, AShareAboveAllOfThePeakIsAnError) {
  EXPECT_NO_THROW(require_below_peak("native x", 100, 100));
  EXPECT_ERROR(require_below_peak("native x", 101, 100), ErrorCode::Internal, "native x at 101");
}

/// On how many processors the calling thread may run.
int processors_of_thread() noexcept {
  cpu_set_t processors;
  CPU_ZERO(&processors);
  return sched_getaffinity(0, sizeof(processors), &processors) == 0 ? CPU_COUNT(&processors) : -1;
}

TEST(Peaks, EveryThreadHasOneShareOnOneProcessor) {
  static std::mutex mutex;
  static std::vector<std::thread::id> callers;
  static std::map<std::thread::id, int> processors;
  const PeakKernel kernel{"counting", false, [](int64_t rounds) noexcept {
                            const std::lock_guard lock(mutex);
                            callers.push_back(std::this_thread::get_id());
                            processors[std::this_thread::get_id()] = processors_of_thread();
                            return rounds;
                          }};
  ThreadPool pool(3);
  const Contender contender = peak_contender(kernel, pool);
  callers.clear();
  const int before = processors_of_thread();
  EXPECT_GE(contender.timed_work(), 0);
  EXPECT_EQ(callers.size(), 3u);
  EXPECT_EQ(std::set(callers.begin(), callers.end()).size(), 3u);
  for (const auto& [thread, count] : processors) EXPECT_EQ(count, 1);
  EXPECT_EQ(processors_of_thread(), before) << "still pinned";
}

TEST(Gemm, EveryKernelGivesTheProductAndIsTimed) {
  const NamedShape shape{"small", {37, 41, 5}};
  std::vector<GemmRow> rows;
  try {
    rows = race_gemms(shape, {.threads = 2, .rounds = 1});
  } catch (const Error& error) {
    if (std::string(error.what()).find("the machine was busy") == std::string::npos) throw;
    GTEST_SKIP() << error.what();
  }
  ASSERT_GE(rows.size(), 6u);
  for (const GemmRow& row : rows) {
    EXPECT_GT(row.gflops, 0) << row.kernel;
    EXPECT_GT(row.share_of_int8_peak, 0) << row.kernel;
    if (row.kernel == "f32 oneDNN") {
      EXPECT_EQ(row.ratio_to_f32, 1.0);
    }
  }
}

TEST(Gemm, FindsAWrongAnswer) {
  const GemmShape shape{2, 3, 1};
  const std::vector<float> a = {1, 2, 3};
  const std::vector<float> b = {1, 1, 1, 0, 1, 0};
  EXPECT_NO_THROW(require_product("right", shape, a, b, std::vector<float>{6, 2}));
  EXPECT_ERROR(require_product("bad", shape, a, b, std::vector<float>{6, 3}), ErrorCode::Internal,
               "bad gave a wrong product");
}

TEST(Steps, RatiosAreMediansOfRounds) {
  const StepRow base{.path = "f32", .shape = {}, .gflops = {10, 1, 10}};
  const StepRow row{.path = "x", .shape = {}, .gflops = {30, 3, 20}};
  EXPECT_EQ(median_ratio(row, base), 3);
  EXPECT_EQ(row.median_gflops(), 20);
  EXPECT_EQ(row.best_gflops(), 30);
  EXPECT_EQ(row.boards_per_s(2e9), 10);
}

TEST(Energy, CountsPackagesAndTheirOverflow) {
  const testing::TempDir dir;
  const auto write = [&](const std::string& folder, const std::string& value) {
    std::filesystem::create_directories(dir.path() / folder);
    write_file_atomic(dir.path() / folder / "max_energy_range_uj", std::string("10000000\n"));
    write_file_atomic(dir.path() / folder / "energy_uj", value + "\n");
  };
  EXPECT_FALSE(EnergyMeter(dir.path() / "nowhere").is_exposed());
  EXPECT_FALSE(EnergyMeter(dir.path()).joules());
  write("intel-rapl:0", "1000000");
  write("intel-rapl:0:0", "5");  // a part of the package
  write("intel-rapl:1", "9000000");
  EnergyMeter meter(dir.path());
  ASSERT_TRUE(meter.is_exposed());
  meter.start();
  write("intel-rapl:0", "3500000");
  write("intel-rapl:1", "500000");  // began again at zero
  EXPECT_EQ(meter.joules(), 2.5 + 1.5);
}

TEST(Calm, SaysWhatItSaw) {
  ThreadPool pool(1);
  const Calm calm = wait_for_calm(pool, 0);
  EXPECT_GE(calm.peak_spread, 0);
  EXPECT_GE(calm.foreign_share, 0);
  const Calm busy{.peak_spread = 0.5, .foreign_share = 0.25};
  EXPECT_NE(to_string(busy).find("NOT CALM"), std::string::npos);
  EXPECT_NE(to_string(busy).find("25 %"), std::string::npos);
  EXPECT_TRUE(to_string({.is_calm = true}).starts_with("calm"));
}

}  // namespace
}  // namespace driftless::bench
