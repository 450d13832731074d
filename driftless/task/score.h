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

/// The mean of n independent values between 0 and 1, such as the share of right cells of each
/// board: the cells of one board are not independent, the boards are.
class Mean {
 public:
  Mean() = default;
  /// The mean of n values with this sum and this sum of squares; joins parts counted elsewhere.
  Mean(int64_t n, double sum, double sum_of_squares);

  void add(double value);
  [[nodiscard]] double sum() const { return static_cast<double>(n_) * mean_; }
  [[nodiscard]] double sum_of_squares() const { return squares_ + sum() * mean_; }
  [[nodiscard]] int64_t n() const { return n_; }
  [[nodiscard]] double value() const { return mean_; }
  /// The 95 % interval of the normal distribution from the variance of the values, cut to 0..1.
  /// Values that are all equal say nothing about their variance and get Wilson's interval.
  [[nodiscard]] Interval interval() const;

 private:
  int64_t n_ = 0;
  double mean_ = 0;
  double squares_ = 0;  // sum of squared distances from the mean
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
  Mean cells;      ///< over boards, of the share of counted cells that are right
  int64_t steps_sum = 0;

  /// Counts one board after `steps` supervision steps. A row without counted cells is padding of a
  /// batch and is left out. Throws InvalidArgument when steps are negative.
  void add(Outcome outcome, Share board_cells, int64_t steps);
  [[nodiscard]] double mean_steps() const;
};

}  // namespace driftless::task
