// SPDX-License-Identifier: Apache-2.0
// Exact and cell accuracy of a model on boards with answers, after all supervision steps.
#pragma once

#include <cstdint>
#include <span>

#include <ATen/ATen.h>

#include "driftless/lab/net/recursive_net.h"
#include "driftless/task/table.h"

namespace driftless::lab {

struct EvaluateOptions {
  int64_t steps = 16;
  int64_t batch = 1024;
  int64_t chunk = 1024;  ///< see StepOptions
  at::Device device = at::kCPU;
  at::Tensor puzzle_table = {};  ///< [N, puzzle_emb_ndim], with prefix rows
  BetweenLayers between = {};    ///< see StepOptions
};

/// With prefix rows each board takes its own row of the table. Every board runs all the steps; the
/// last step's most likely tokens are the answer. Other right answers than the label count as
/// wrong.
task::Score evaluate(const RecursiveNet& net, std::span<const task::Example> boards,
                     const EvaluateOptions& options);

}  // namespace driftless::lab
