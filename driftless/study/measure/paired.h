// SPDX-License-Identifier: Apache-2.0
// Two models on the same boards: how much accuracy moved, and whether chance explains it.
#pragma once

#include <cstdint>

#include "driftless/task/score.h"

namespace driftless::study {

/// Boards on which the two disagree.
struct Paired {
  int64_t lost = 0;    ///< the reference is right, the other wrong
  int64_t gained = 0;  ///< the other way round
  int64_t n = 0;       ///< all boards

  /// The other's share of right boards less the reference's.
  [[nodiscard]] double difference() const;
  /// 95 %, from the variance of a paired difference: (lost + gained - (gained - lost)^2 / n) / n^2.
  [[nodiscard]] task::Interval interval() const;
  /// McNemar's exact test, two-sided: the chance that a fair coin, thrown lost + gained times,
  /// falls at least as unevenly. 1 without disagreement.
  [[nodiscard]] double p_value() const;
};

}  // namespace driftless::study
