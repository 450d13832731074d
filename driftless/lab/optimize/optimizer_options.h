// SPDX-License-Identifier: Apache-2.0
// The constants of AdamATan2 and of the moving average, and the learning rate over the steps.
#pragma once

#include <cstdint>

namespace driftless::lab {

struct OptimizerOptions {
  double beta1 = 0.9;
  double beta2 = 0.95;
  double weight_decay = 0.1;
  double ema_rate = 0.999;
};

/// Linear warm-up, constant, then linear decay over the last `decay_steps` of `steps`.
struct LearningRate {
  double peak = 1e-4;
  int64_t warmup_steps = 2000;
  int64_t steps = 0;
  int64_t decay_steps = 0;
  double final_ratio = 0.0;  ///< of the peak, reached at the last step
};

/// The rate of step t, counted from 1: the first step has 1/warmup_steps of the peak.
double rate_at(const LearningRate& schedule, int64_t t);

}  // namespace driftless::lab
