// SPDX-License-Identifier: Apache-2.0
// What a model learns ARC from: the pairs of tasks and of their variants, each under the row of the
// puzzle table that belongs to its variant.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "driftless/base/rng.h"
#include "driftless/task/arc/grid.h"
#include "driftless/task/table.h"

namespace driftless::task::arc {

struct TrainingOptions {
  int64_t side = kMaxSide;  ///< of the canvas
  int64_t variants = 1000;  ///< of each task beside the task itself; symmetric tasks have fewer
};

/// Rows of a task follow each other, those of a variant too.
struct TrainingSet {
  std::vector<std::string> names;  ///< of the puzzle table's rows; row 0 is kBlankName
  std::vector<Example> train;
  std::vector<Example> test;
};

/// Demonstrations of all tasks train. The test pairs of `asked` are the test set, those of `others`
/// train too where their output is known. Training pairs lie at a random place of the canvas but
/// for one of each variant, which lies top left as test pairs do. Throws InvalidArgument, with the
/// task's name, when two tasks share it or a grid does not fit the canvas.
TrainingSet training_set(std::span<const Puzzle> asked, std::span<const Puzzle> others,
                         const TrainingOptions& options, Rng& rng);

}  // namespace driftless::task::arc
