// SPDX-License-Identifier: Apache-2.0
// Mazes of our own, labeled by the rule of path.h.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>

#include "driftless/base/rng.h"
#include "driftless/task/maze/board.h"

namespace driftless::task::maze {

enum class Kind {
  /// Each cell is a wall with the same chance, drawn per board from 30 to 45 %: as Maze-Hard.
  Scattered,
  /// A perfect maze (its corridors form a tree), so the path from S to G is the only one. Corridors
  /// join cells of even row and column; with an even side the last row and column are wall.
  Perfect,
};

struct GeneratorOptions {
  Kind kind = Kind::Scattered;
  int64_t side = 30;
  /// Cells of the shortest path, both ends included.
  int64_t min_path_cells = 110;
  int64_t max_path_cells = std::numeric_limits<int64_t>::max();
  /// How many boards to throw away in a row before giving up.
  int64_t max_attempts = 100'000;
};

/// S is the cell farthest from a random open cell, and G is drawn among the open cells whose
/// shortest path from S fits the range; nothing where there is none. Throws InvalidArgument when
/// options are out of range.
std::optional<Puzzle> try_generate(const GeneratorOptions& options, Rng& rng);

/// Tries until a board passes. Throws InvalidArgument, besides, after max_attempts.
Puzzle generate(const GeneratorOptions& options, Rng& rng);

}  // namespace driftless::task::maze
