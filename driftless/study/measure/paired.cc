// SPDX-License-Identifier: Apache-2.0
#include "driftless/study/measure/paired.h"

#include <algorithm>
#include <cmath>

namespace driftless::study {

double Paired::difference() const {
  return n == 0 ? 0 : static_cast<double>(gained - lost) / static_cast<double>(n);
}

task::Interval Paired::interval() const {
  if (n == 0) return {.low = -1, .high = 1};
  const auto count = static_cast<double>(n);
  const double net = count * difference();
  const double half =
      task::kZ95 * std::sqrt(std::fmax(0, static_cast<double>(lost + gained) - net * net / count)) /
      count;
  return {.low = std::max(-1.0, difference() - half), .high = std::min(1.0, difference() + half)};
}

double Paired::p_value() const {
  const int64_t total = lost + gained;
  if (total == 0) return 1;
  // Twice the lower tail; log-gamma keeps the binomials of large counts in range.
  const auto log_choose = [total](int64_t k) {
    return std::lgamma(static_cast<double>(total + 1)) - std::lgamma(static_cast<double>(k + 1)) -
           std::lgamma(static_cast<double>(total - k + 1));
  };
  double tail = 0;
  for (int64_t k = 0; k <= std::min(lost, gained); ++k)
    tail += std::exp(log_choose(k) - static_cast<double>(total) * std::log(2.0));
  return std::min(1.0, 2 * tail);
}

}  // namespace driftless::study
