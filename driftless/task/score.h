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

/// The counted cells of one board and how many of them are right; cells whose label is 0 (pad) do
/// not count. Throws InvalidArgument when the lengths differ.
Share matching_cells(std::span<const uint8_t> label, std::span<const uint8_t> prediction);

/// Accepted: not the label, but another right answer (a second solution of an ambiguous Sudoku,
/// another shortest path).
enum class Outcome { Exact, Accepted, Wrong };

/// What a model did with a set of boards. Cells of one board are not independent, so the interval
/// of `cells` is too narrow; those of `exact` and `accepted` are sound.
struct Score {
  Share exact;     ///< boards with every counted cell right
  Share accepted;  ///< boards with the label or another right answer
  Share cells;     ///< counted cells that are right
  int64_t steps_sum = 0;

  /// Counts one board after `steps` supervision steps. A row without counted cells is padding of a
  /// batch and is left out. Throws InvalidArgument when steps are negative.
  void add(Outcome outcome, Share board_cells, int64_t steps);
  [[nodiscard]] double mean_steps() const;
};

}  // namespace driftless::task
