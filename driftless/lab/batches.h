// SPDX-License-Identifier: Apache-2.0
// Training boards: files with shares, and freshly augmented batches that depend on seed and step
// alone, so that a resumed run sees the same boards as an uninterrupted one.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "driftless/base/rng.h"
#include "driftless/task/sudoku/board.h"

namespace driftless::lab {

/// Boards that are drawn `share` of the time, relative to the other parts.
struct PoolPart {
  std::vector<task::sudoku::Puzzle> puzzles;
  double share = 1;
};

class BoardPool {
 public:
  /// Throws BadConfig on an empty pool or part, a share that is not positive, or mixed board sizes.
  explicit BoardPool(std::vector<PoolPart> parts);

  [[nodiscard]] const task::sudoku::Puzzle& draw(Rng& rng) const;
  /// Cells of every board: 81 or 16.
  [[nodiscard]] int64_t cells() const { return cells_; }

 private:
  std::vector<PoolPart> parts_;
  double total_share_ = 0;
  int64_t cells_ = 0;
};

/// Boards of the pool that a symmetry turns into one of `held_out`: 0 for an honest evaluation.
/// About 0.2 ms a board.
int64_t count_equivalent(std::span<const task::sudoku::Puzzle> pool,
                         std::span<const task::sudoku::Puzzle> held_out);

struct BatchOptions {
  uint64_t seed = 0;
  int64_t boards = 0;
  int64_t halt_max_steps = 16;
  double halt_exploration = 0.1;
};

/// Tokens [boards, cells] row by row, and for each board how many steps it must at least run: with
/// probability halt_exploration uniform in 2..halt_max_steps, else 0.
struct Batch {
  std::vector<uint8_t> inputs;
  std::vector<uint8_t> labels;
  std::vector<uint8_t> min_steps;
};
Batch make_batch(const BoardPool& pool, const BatchOptions& options, int64_t step);

}  // namespace driftless::lab
