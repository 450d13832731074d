// SPDX-License-Identifier: Apache-2.0
#include "driftless/task/score.h"

#include <algorithm>
#include <cmath>

#include "driftless/base/error.h"

namespace driftless::task {
namespace {

constexpr double kZ95 = 1.959963984540054;  // 97.5 % quantile of the standard normal

}  // namespace

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

Mean::Mean(int64_t n, double sum, double sum_of_squares) : n_(n) {
  if (n == 0) return;
  mean_ = sum / static_cast<double>(n);
  squares_ = std::max(0.0, sum_of_squares - sum * mean_);
}

void Mean::add(double value) {
  ++n_;
  const double step = value - mean_;
  mean_ += step / static_cast<double>(n_);
  squares_ += step * (value - mean_);
}

Interval Mean::interval() const {
  if (squares_ == 0) return wilson_interval(mean_, n_);
  const auto n = static_cast<double>(n_);
  const double half = kZ95 * std::sqrt(squares_ / (n - 1) / n);
  return {.low = std::max(0.0, mean_ - half), .high = std::min(1.0, mean_ + half)};
}

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
