// SPDX-License-Identifier: Apache-2.0
// A reasoner's answers to a set of boards, scored.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "driftless/reason/run.h"
#include "driftless/task/arc/vote.h"
#include "driftless/task/table.h"

namespace driftless::cli {

struct EvaluateOptions {
  const reason::HaltingPolicy& halting;
  int64_t max_steps;
  uint64_t seed = 0;     ///< of EqR's states and noise; board i takes seed + i
  std::string scheme{};  ///< what is evaluated, for the progress line
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

/// Runs every board, with a progress line on a terminal. Throws Interrupted when Ctrl-C comes while
/// an InterruptGuard lives, and what reason::run throws.
Evaluation evaluate(reason::Reasoner& reasoner, const task::Task& task,
                    std::span<const task::Example> examples, const EvaluateOptions& options);

/// The score of ARC tasks. Boards of one task are not independent, so every mean is over tasks with
/// a known answer.
struct ArcScore {
  std::vector<task::arc::PassRate> pass;
  task::Moments exact;  ///< share of a task's boards answered exactly
  task::Moments cells;  ///< share of the counted cells of a task's boards
};

/// Everybody's votes: board i saw the variant that examples[i].name says.
task::arc::Ballot count_votes(std::span<const task::Example> examples,
                              std::span<const reason::Answer> answers);

/// `ballot` holds the votes on the examples. Values of K: 1, 2, 5, 10, 100 and 1000, as far as an
/// input has so many boards; 1 and 2 always.
ArcScore score_arc(std::span<const task::arc::Puzzle> puzzles,
                   std::span<const task::Example> examples, std::span<const reason::Answer> answers,
                   const task::arc::Ballot& ballot);

}  // namespace driftless::cli
