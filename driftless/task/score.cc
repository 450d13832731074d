// SPDX-License-Identifier: Apache-2.0
#include "driftless/task/score.h"

#include <algorithm>
#include <cmath>

#include "driftless/base/error.h"

namespace driftless::task {

double Share::value() const {
  return n == 0 ? 0 : static_cast<double>(hits) / static_cast<double>(n);
}

Interval wilson_interval(double share, int64_t n) {
  if (n == 0) return {};
  const auto count = static_cast<double>(n);
  const double z2 = kZ95 * kZ95;
  const double center = (share + z2 / (2 * count)) / (1 + z2 / count);
  const double half =
      kZ95 / (1 + z2 / count) * std::sqrt(share * (1 - share) / count + z2 / (4 * count * count));
  // At the ends the formula gives 0 and 1 up to rounding.
  return {.low = share == 0 ? 0 : center - half, .high = share == 1 ? 1 : center + half};
}

void Moments::add(double value) { merge({.n = 1, .sum = value, .squares = value * value}); }

void Moments::merge(const Moments& other) {
  n += other.n;
  sum += other.sum;
  squares += other.squares;
}

double Moments::mean() const { return n == 0 ? 0 : sum / n; }

Interval Moments::interval() const {
  if (n < 2) return {.low = mean(), .high = mean()};
  // The difference may come out below 0 by rounding where all values are equal.
  const double variance = std::fmax(0, squares - sum * mean()) / (n - 1);
  const double half = kZ95 * std::sqrt(variance / n);
  return {.low = mean() - half, .high = mean() + half};
}

Interval Moments::share_interval() const {
  // Equal values leave rounding: n + 1 units of 2^-53 in the squares, 2 n + 3 in the other term.
  const bool are_all_equal = squares - sum * mean() <= (3 * n + 4) * 0x1p-53 * squares;
  if (are_all_equal) return wilson_interval(mean(), std::llround(n));
  const Interval wide = interval();
  return {.low = std::max(0.0, wide.low), .high = std::min(1.0, wide.high)};
}

Share Moments::share() const { return {.hits = std::llround(sum), .n = std::llround(n)}; }

Share matching_cells(std::span<const uint8_t> label, std::span<const uint8_t> prediction) {
  DRIFTLESS_REQUIRE(label.size() == prediction.size(), ErrorCode::InvalidArgument,
                    "score: label and prediction differ in length; got ", label.size(), " and ",
                    prediction.size());
  Share cells;
  for (size_t i = 0; i < label.size(); ++i)
    if (label[i] != 0) cells.add(label[i] == prediction[i] ? 1 : 0, 1);
  return cells;
}

void Score::add(Outcome outcome, Share board_cells, int64_t steps) {
  DRIFTLESS_REQUIRE(steps >= 0, ErrorCode::InvalidArgument, "score: negative steps; got ", steps);
  if (board_cells.n == 0) return;
  exact.add(outcome == Outcome::Exact ? 1 : 0, 1);
  accepted.add(outcome != Outcome::Wrong ? 1 : 0, 1);
  cells.add(board_cells.value());
  steps_sum += steps;
}

double Score::mean_steps() const {
  return exact.n == 0 ? 0 : static_cast<double>(steps_sum) / static_cast<double>(exact.n);
}

}  // namespace driftless::task
