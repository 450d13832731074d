// SPDX-License-Identifier: Apache-2.0
// A trainer run to its end: metrics as JSON Lines, evaluation and checkpoints at their intervals.
// With several ranks all of them run the loop; rank 0 writes and reports.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>

#include "driftless/lab/progress.h"
#include "driftless/lab/train/trainer.h"

namespace driftless::lab {

struct LoopOptions {
  /// Holds metrics.jsonl, the run state, and what Trainer::export_model writes.
  std::filesystem::path folder;
  /// Stops in time for the last checkpoint and evaluation when the recipe's steps take longer.
  double max_seconds = 1e9;
  std::span<const task::Example> eval_boards;
  std::function<void(const Progress&)> report = [](const Progress&) {};
  /// Asked after every step (with several ranks after every log_every): the run ends where it says
  /// yes. Within a step TrainerOptions::should_give_up is asked.
  std::function<bool()> should_stop = [] { return false; };
};

/// Trains until the recipe's last step, the time limit or should_stop, then saves and evaluates
/// (after should_stop or GivenUp it only saves). A resumed run continues the metrics of its last
/// checkpoint: later lines of the earlier leg are dropped. Throws Numeric when the loss stops being
/// finite, and Io when a file cannot be written or a rank is lost; the last checkpoint stays.
EndOfRun train(Trainer& trainer, const LoopOptions& options);

}  // namespace driftless::lab
