// SPDX-License-Identifier: Apache-2.0
#include "driftless/task/score.h"

#include <cmath>

#include "driftless/base/error.h"

namespace driftless::task {
namespace {

constexpr double kZ95 = 1.959963984540054;  // 97.5 % quantile of the standard normal

}  // namespace

double Share::value() const {
  return n == 0 ? 0 : static_cast<double>(hits) / static_cast<double>(n);
}

Interval Share::interval() const {
  if (n == 0) return {};
  const auto count = static_cast<double>(n);
  const double p = value();
  const double z2 = kZ95 * kZ95;
  const double center = (p + z2 / (2 * count)) / (1 + z2 / count);
  const double half =
      kZ95 / (1 + z2 / count) * std::sqrt(p * (1 - p) / count + z2 / (4 * count * count));
  // At the ends the formula gives 0 and 1 up to rounding.
  return {.low = hits == 0 ? 0 : center - half, .high = hits == n ? 1 : center + half};
}

bool Score::add(std::span<const uint8_t> label, std::span<const uint8_t> prediction,
                int64_t steps) {
  DRIFTLESS_REQUIRE(label.size() == prediction.size(), ErrorCode::InvalidArgument,
                    "score: label and prediction differ in length; got ", label.size(), " and ",
                    prediction.size());
  DRIFTLESS_REQUIRE(steps >= 0, ErrorCode::InvalidArgument, "score: negative steps; got ", steps);
  int64_t counted = 0;
  int64_t right = 0;
  for (size_t i = 0; i < label.size(); ++i) {
    if (label[i] == 0) continue;
    ++counted;
    right += label[i] == prediction[i] ? 1 : 0;
  }
  if (counted == 0) return false;
  const bool is_exact = right == counted;
  cells.add(right, counted);
  exact.add(is_exact ? 1 : 0, 1);
  steps_sum += steps;
  return is_exact;
}

double Score::mean_steps() const {
  return exact.n == 0 ? 0 : static_cast<double>(steps_sum) / static_cast<double>(exact.n);
}

}  // namespace driftless::task
