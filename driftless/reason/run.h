// SPDX-License-Identifier: Apache-2.0
// Runs a list of boards through a reasoner. A board that is done leaves its slot to the next one,
// so that stopping early saves time.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "driftless/reason/halting.h"
#include "driftless/reason/reasoner.h"

namespace driftless::reason {

/// The state of one board after a step.
struct Answer {
  std::vector<uint8_t> tokens;  ///< S tokens: the first largest logit of each cell
  int64_t steps = 0;
  float halt_logit = 0;
};

/// Called with the board's index and what the heads say after its last step.
using ReadoutSink = std::function<void(int64_t board, const Readout& readout)>;

struct RunOptions {
  const HaltingPolicy& halting;
  int64_t max_steps;  ///< >= 1
  StepObserver* observer = nullptr;
  ReadoutSink on_last_readout = {};  ///< right before the board's final answer
};

/// Called with the board's index.
using AnswerSink = std::function<void(int64_t board, const Answer& answer)>;

/// Hands every board's final answer to `on_done`, in the order in which they finish; `on_step`,
/// where given, sees the answer after each step. Throws InvalidArgument where a board does not fit
/// the model, Numeric when a logit is not finite.
void run(Reasoner& reasoner, std::span<const Board> boards, const RunOptions& options,
         const AnswerSink& on_done, const AnswerSink& on_step = {});

}  // namespace driftless::reason
