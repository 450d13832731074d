// SPDX-License-Identifier: Apache-2.0
#include "driftless/lab/optimize/optimizer_options.h"

#include <algorithm>

#include "driftless/base/error.h"

namespace driftless::lab {

double rate_at(const LearningRate& schedule, int64_t t) {
  DRIFTLESS_REQUIRE(t >= 1, ErrorCode::InvalidArgument, "learning rate: got step ", t,
                    ", expected 1 or more");
  double rate = schedule.peak;
  if (t < schedule.warmup_steps)
    rate *= static_cast<double>(t) / static_cast<double>(schedule.warmup_steps);
  const int64_t into_decay = t - (schedule.steps - schedule.decay_steps);
  if (schedule.decay_steps > 0 && into_decay > 0) {
    const double progress =
        std::min(1.0, static_cast<double>(into_decay) / static_cast<double>(schedule.decay_steps));
    rate *= 1.0 - (1.0 - schedule.final_ratio) * progress;
  }
  return rate;
}

}  // namespace driftless::lab
