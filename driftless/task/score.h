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

/// 97.5 % quantile of the standard normal: half of a 95 % interval, in standard errors.
inline constexpr double kZ95 = 1.959963984540054;

/// The 95 % interval of Wilson for a share of n independent trials: the p for which
/// |share - p| <= 1.96 sqrt(p (1 - p) / n); 0 to 1 when n is 0. Also holds, if anything too wide,
/// for the mean of any n independent values between 0 and 1, whose variance is p (1 - p) at most.
Interval wilson_interval(double share, int64_t n);

/// `hits` out of `n`. The share of nothing is 0 with the interval 0 to 1.
struct Share {
  int64_t hits = 0;
  int64_t n = 0;

  void add(int64_t more_hits, int64_t more) {
    hits += more_hits;
    n += more;
  }
  [[nodiscard]] double value() const;
  [[nodiscard]] Interval interval() const { return wilson_interval(value(), n); }

  friend bool operator==(const Share&, const Share&) = default;
};

/// A mean over independent values, as sums: those of disjoint sets merge by addition. The cells of
/// one board are not independent, the boards are.
struct Moments {
  double n = 0;
  double sum = 0;
  double squares = 0;

  void add(double value);
  void merge(const Moments& other);
  /// 0 without values.
  [[nodiscard]] double mean() const;
  /// mean +- 1.96 s / sqrt(n) with s^2 = sum (x - mean)^2 / (n - 1); the mean itself below two
  /// values.
  [[nodiscard]] Interval interval() const;
  /// The same for values between 0 and 1: it ends there, and values that are all equal, which say
  /// nothing about their variance, get Wilson's.
  [[nodiscard]] Interval share_interval() const;
  /// Values that are 0 or 1, counted.
  [[nodiscard]] Share share() const;

  bool operator==(const Moments&) const = default;
};

/// The counted cells of one board and how many of them are right; cells whose label is 0 (pad) do
/// not count. Throws InvalidArgument when the lengths differ.
Share matching_cells(std::span<const uint8_t> label, std::span<const uint8_t> prediction);

/// Accepted: not the label, but another right answer (a second solution of an ambiguous Sudoku,
/// another shortest path).
enum class Outcome { Exact, Accepted, Wrong };

/// What a model did with a set of boards.
struct Score {
  Share exact;     ///< boards with every counted cell right
  Share accepted;  ///< boards with the label or another right answer
  Moments cells;   ///< over boards, of the share of counted cells that are right
  int64_t steps_sum = 0;

  /// Counts one board after `steps` supervision steps. A row without counted cells is padding of a
  /// batch and is left out. Throws InvalidArgument when steps are negative.
  void add(Outcome outcome, Share board_cells, int64_t steps);
  [[nodiscard]] double mean_steps() const;
};

}  // namespace driftless::task
