// SPDX-License-Identifier: Apache-2.0
// Shares with their uncertainty, and the scores every task has in common.
#pragma once

#include <cstdint>
#include <span>

namespace driftless::task {

struct Interval {
  double low = 0;
  double high = 1;
};

/// `hits` out of `n`. The share of nothing is 0 with the interval 0 to 1.
struct Share {
  int64_t hits = 0;
  int64_t n = 0;

  void add(int64_t more_hits, int64_t more) {
    hits += more_hits;
    n += more;
  }
  [[nodiscard]] double value() const;
  /// The 95 % interval of Wilson: the p for which |hits - n p| <= 1.96 sqrt(n p (1 - p)). It treats
  /// the n trials as independent.
  [[nodiscard]] Interval interval() const;

  friend bool operator==(const Share&, const Share&) = default;
};

/// What a model did with a set of boards. Cells of one board are not independent, so the interval
/// of `cells` is too narrow; that of `exact` is sound.
struct Score {
  Share exact;  ///< boards with every counted cell right
  Share cells;  ///< counted cells that are right
  int64_t steps_sum = 0;

  /// Compares one predicted row with its label; cells whose label is 0 (pad) do not count, and a
  /// row without counted cells is no board. Returns whether the board is exact. Throws
  /// InvalidArgument when the lengths differ or steps are negative.
  bool add(std::span<const uint8_t> label, std::span<const uint8_t> prediction, int64_t steps);
  [[nodiscard]] double mean_steps() const;
};

}  // namespace driftless::task
