// SPDX-License-Identifier: Apache-2.0
// Pieces of work timed in turn, so that a busy moment of the machine meets all of them.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

namespace driftless::bench {

struct Contender {
  std::string name;
  std::function<void()> work;
  double operations = 0;  ///< multiplications and additions of one piece of work
  double best_s = std::numeric_limits<double>::infinity();

  [[nodiscard]] double gflops() const { return operations / best_s / 1e9; }
};

double seconds_of(const std::function<void()>& work);

/// `rounds` times: each contender three times in a row, so that the caches hold what it uses and
/// not what another left. The best time of each counts.
void race(std::vector<Contender>& contenders, int64_t rounds);

}  // namespace driftless::bench
