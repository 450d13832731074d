// SPDX-License-Identifier: Apache-2.0
// What a training run tells while it runs and when it ends, free of torch.
#pragma once

#include <cstdint>
#include <optional>

#include "driftless/task/score.h"

namespace driftless::lab {

/// Sent after every log interval and every evaluation.
struct Progress {
  int64_t step = 0;
  int64_t steps = 0;       ///< of the recipe
  double ms_per_step = 0;  ///< since the last report; 0 before the first step
  double seconds_left = 0;
  double answer_loss = 0;  ///< per board and step since the last report
  double exact_rate = 0;   ///< of the training boards that halted since the last report
  std::optional<task::Score> evaluated;  ///< where this report is an evaluation
};

enum class Reason { LastStep, TimeLimit, Stopped };

struct EndOfRun {
  Reason reason = Reason::LastStep;
  int64_t step = 0;
  std::optional<task::Score> evaluated;
  bool is_reporter = true;  ///< false for all ranks but the first
};

}  // namespace driftless::lab
