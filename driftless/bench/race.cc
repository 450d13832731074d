// SPDX-License-Identifier: Apache-2.0
#include "driftless/bench/race.h"

#include <algorithm>
#include <chrono>

#include "driftless/base/error.h"

namespace driftless::bench {

double seconds_of(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

double Contender::best_gflops() const {
  return operations / *std::min_element(seconds.begin(), seconds.end()) / 1e9;
}
double Contender::median_gflops() const { return operations / median(seconds) / 1e9; }

void repeat_while_outrun(Contender& peak, double gflops) {
  constexpr int kMostRounds = 200;
  std::vector<Contender> alone = {peak};
  for (int round = 0; round < kMostRounds && alone[0].best_gflops() < gflops; ++round)
    race(alone, 1);
  peak = std::move(alone[0]);
}

void require_below_peak(const std::string& name, double gflops, double peak_gflops) {
  DRIFTLESS_REQUIRE(gflops <= peak_gflops, ErrorCode::Internal, "bench: ", name, " at ", gflops,
                    " GFLOP/s; expected at most the peak of its instructions, measured as ",
                    peak_gflops, "; the machine was busy: run again when it is calm");
}

void race(std::vector<Contender>& contenders, int64_t rounds) {
  constexpr int kInARow = 3;
  for (int64_t round = 0; round < rounds; ++round)
    for (Contender& contender : contenders) {
      for (int i = 0; i < kInARow; ++i)
        contender.seconds.push_back(contender.timed_work ? contender.timed_work()
                                                         : seconds_of(contender.work));
      if (contender.after) contender.after();
    }
}

}  // namespace driftless::bench
