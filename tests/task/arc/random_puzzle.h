// SPDX-License-Identifier: Apache-2.0
// Random ARC grids and tasks.
#pragma once

#include "driftless/base/rng.h"
#include "driftless/task/arc/grid.h"

namespace driftless::task::arc {

inline Grid random_grid(Extent extent, Rng& rng) {
  Grid grid{.extent = extent};
  for (int64_t i = 0; i < extent.size(); ++i)
    grid.cells.push_back(static_cast<uint8_t>(rng.below(kColorCount)));
  return grid;
}

inline Grid random_grid(Rng& rng, int64_t max_side = kMaxSide) {
  const auto side = [&] {
    return static_cast<int64_t>(1 + rng.below(static_cast<uint64_t>(max_side)));
  };
  const int64_t rows = side();
  return random_grid(Extent{.rows = rows, .columns = side()}, rng);
}

inline Puzzle random_puzzle(Rng& rng) {
  Puzzle task{.name = "random", .train = {}, .test = {}};
  for (int64_t i = 0; i < 3; ++i)
    task.train.push_back({.input = random_grid(rng), .output = random_grid(rng)});
  task.test.push_back({.input = random_grid(rng), .output = random_grid(rng)});
  return task;
}

}  // namespace driftless::task::arc
