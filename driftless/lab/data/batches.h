// SPDX-License-Identifier: Apache-2.0
// The boards a run trains on and the batches drawn from them. A batch depends on the seed and the
// step alone, so that a resumed run sees the boards it would have seen.
#pragma once

#include <cstdint>
#include <vector>

#include "driftless/base/rng.h"
#include "driftless/task/table.h"

namespace driftless::lab {

/// Boards that are drawn `share` of the time, relative to the other parts.
struct PoolPart {
  std::vector<task::Example> boards;
  double share = 1;
};

enum class Augment { Off, On };

class BoardPool {
 public:
  /// Throws BadConfig on an empty pool or part, a share that is not positive, or mixed board sizes.
  BoardPool(const task::Task& task, std::vector<PoolPart> parts, Augment augment = Augment::On);

  /// A board, under a random symmetry where the pool augments.
  [[nodiscard]] task::Example draw(Rng& rng) const;
  /// Cells of every board: 81 or 16 for Sudoku.
  [[nodiscard]] int64_t cells() const { return cells_; }
  [[nodiscard]] const task::Task& task() const { return task_; }

 private:
  const task::Task& task_;
  std::vector<PoolPart> parts_;
  Augment augment_;
  double total_share_ = 0;
  int64_t cells_ = 0;
};

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
  std::vector<int32_t> puzzles;  ///< row of the puzzle table of each board
};
Batch make_batch(const BoardPool& pool, const BatchOptions& options, int64_t step);

}  // namespace driftless::lab
