// SPDX-License-Identifier: Apache-2.0
// ARC: what the answers to a task's variants come to when they vote.
#pragma once

#include <span>
#include <vector>

#include "driftless/reason/run.h"
#include "driftless/task/arc/vote.h"
#include "driftless/task/table.h"

namespace driftless::run {

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

}  // namespace driftless::run
