// SPDX-License-Identifier: Apache-2.0
// Shortest paths: the rule that labels Maze-Hard, and the check of a predicted path.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "driftless/task/maze/board.h"
#include "driftless/task/score.h"

namespace driftless::task::maze {

/// Breadth-first search from one cell over everything but walls. Neighbors are visited in the
/// order down, left, right, up, and a cell keeps the parent that finds it first.
struct Reach {
  std::vector<int64_t> distance;  ///< steps from the origin, -1 where out of reach
  std::vector<int64_t> parent;    ///< the cell before, -1 at the origin and out of reach
};
Reach reach_from(const Board& board, int64_t origin);

/// The question with the path of the rule above from S to G drawn in; nothing when G is out of
/// reach. Throws InvalidArgument unless the board has one S, one G and no path.
std::optional<Puzzle> label(const Board& question);

/// Exact: equal to the answer. Accepted: another path of least length through an otherwise
/// unchanged board. Throws InvalidArgument when the question is none or the sizes differ.
Outcome check(const Puzzle& puzzle, std::span<const uint8_t> prediction);

}  // namespace driftless::task::maze
