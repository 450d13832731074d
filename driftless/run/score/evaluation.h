// SPDX-License-Identifier: Apache-2.0
// A reasoner's answers to a set of boards, scored.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "driftless/reason/run.h"
#include "driftless/task/table.h"

namespace driftless::run {

struct ScoringOptions {
  const reason::HaltingPolicy& halting;
  int64_t max_steps;
  uint64_t seed = 0;  ///< of EqR's states and noise; board i takes seed + i
  /// Hears, after each step of a board, how many boards are done and their score so far. What it
  /// throws ends the evaluation.
  std::function<void(int64_t done, const task::Score& score)> watch{};
};

/// What the published code logs of an evaluation, over the boards with counted cells, after each
/// board's last step. Losses are natural logarithms; the published total is lm + q_halt / 2.
struct PublishedMetrics {
  task::Moments lm_loss;      ///< stablemax cross entropy, mean over a board's counted cells
  task::Moments halt_loss;    ///< binary cross entropy of the halt logit and "the board is exact"
  task::Share halt_accuracy;  ///< boards whose halt logit is 0 or more where they are exact only
};

struct Evaluation {
  task::Score score;
  PublishedMetrics published;
  std::vector<reason::Answer> answers;  ///< by board
  double wall_s = 0;
};

/// Runs every board. Throws what reason::run throws.
Evaluation evaluate(reason::Reasoner& reasoner, const task::Task& task,
                    std::span<const task::Example> examples, const ScoringOptions& options);

}  // namespace driftless::run
