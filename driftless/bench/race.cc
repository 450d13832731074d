// SPDX-License-Identifier: Apache-2.0
#include "driftless/bench/race.h"

#include <algorithm>
#include <chrono>

namespace driftless::bench {

double seconds_of(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void race(std::vector<Contender>& contenders, int64_t rounds) {
  constexpr int kInARow = 3;
  for (int64_t round = 0; round < rounds; ++round)
    for (Contender& contender : contenders)
      for (int i = 0; i < kInARow; ++i)
        contender.best_s = std::min(contender.best_s, seconds_of(contender.work));
}

}  // namespace driftless::bench
