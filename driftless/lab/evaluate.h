// SPDX-License-Identifier: Apache-2.0
// Exact and cell accuracy of a model on boards with answers, after all supervision steps.
#pragma once

#include <cstdint>
#include <span>

#include <ATen/ATen.h>

#include "driftless/lab/recursive_net.h"
#include "driftless/task/sudoku/board.h"

namespace driftless::lab {

struct Score {
  int64_t boards = 0;
  int64_t exact = 0;        ///< boards with every cell right
  int64_t right_cells = 0;  ///< of boards * S
};

struct EvaluateOptions {
  int64_t steps = 16;
  int64_t batch = 1024;
  int64_t chunk = 1024;  ///< see StepOptions
  at::Device device = at::kCPU;
};

/// Every board runs all the steps; the last step's most likely digits are the answer.
Score evaluate(const RecursiveNet& net, std::span<const task::sudoku::Puzzle> puzzles,
               const EvaluateOptions& options);

/// Wilson's 95 % interval of a proportion, as fractions.
struct Interval {
  double low;
  double high;
};
Interval wilson_interval(int64_t successes, int64_t trials);

}  // namespace driftless::lab
