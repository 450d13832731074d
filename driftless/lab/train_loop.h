// SPDX-License-Identifier: Apache-2.0
// A trainer run to its end: metrics as JSON Lines, evaluation and checkpoints at their intervals.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string_view>

#include "driftless/lab/trainer.h"

namespace driftless::lab {

struct LoopOptions {
  /// Holds metrics.jsonl, the run state, and weights.safetensors (the moving average, bfloat16).
  std::filesystem::path folder;
  /// Stops in time for the last checkpoint and evaluation when the recipe's steps take longer.
  double max_seconds = 1e9;
  std::span<const task::sudoku::Puzzle> eval_boards;
};

/// Trains until the recipe's last step or the time limit. Every metrics line also goes to `report`.
/// Appends to the metrics of an earlier leg. Throws Numeric when the loss stops being finite.
void train(Trainer& trainer, const LoopOptions& options,
           const std::function<void(std::string_view line)>& report);

}  // namespace driftless::lab
