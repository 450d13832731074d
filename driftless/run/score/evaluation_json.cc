// SPDX-License-Identifier: Apache-2.0
#include "driftless/run/score/evaluation_json.h"

#include <algorithm>
#include <cmath>

namespace driftless::run {

Json estimate_json(double share, const task::Interval& interval, int64_t n) {
  return {{"share", share}, {"n", n}, {"low", interval.low}, {"high", interval.high}};
}

Json share_json(const task::Share& share) {
  Json json = estimate_json(share.value(), share.interval(), share.n);
  json["hits"] = share.hits;
  return json;
}

Json mean_json(const task::Moments& shares) {
  return estimate_json(shares.mean(), shares.share_interval(), std::llround(shares.n));
}

Json published_json(const Evaluation& result) {
  const PublishedMetrics& metrics = result.published;
  return {{"count", metrics.halt_accuracy.n},
          {"accuracy", result.score.cells.mean()},
          {"exact_accuracy", result.score.exact.value()},
          {"q_halt_accuracy", metrics.halt_accuracy.value()},
          {"steps", result.score.mean_steps()},
          {"loss_type", "stablemax_cross_entropy"},  // of lm_loss, whatever the model trained with
          {"lm_loss", metrics.lm_loss.mean()},
          {"q_halt_loss", metrics.halt_loss.mean()}};
}

Json evaluation_json(const Evaluation& result) {
  int64_t steps = 0;
  for (const reason::Answer& answer : result.answers) steps += answer.steps;
  const auto n = static_cast<double>(std::max<size_t>(1, result.answers.size()));
  return {{"exact", share_json(result.score.exact)},
          {"accepted", share_json(result.score.accepted)},
          {"cells", mean_json(result.score.cells)},
          {"published", published_json(result)},
          {"mean_steps", static_cast<double>(steps) / n},
          {"wall_s", result.wall_s}};
}

}  // namespace driftless::run
