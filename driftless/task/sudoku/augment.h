// SPDX-License-Identifier: Apache-2.0
// The symmetries of Sudoku: transposition, orders of bands and of rows within bands, the same for
// stacks and columns, and names of digits. Each maps boards with one solution to such boards.
#pragma once

#include <array>
#include <cstdint>

#include "driftless/base/rng.h"
#include "driftless/task/sudoku/board.h"

namespace driftless::task::sudoku {

/// First the transposition, then cell (i, j) of the result is cell (row_from[i], column_from[j]),
/// then digit d is written digit_to[d]. Entries past the side are unused; digit_to[0] is 0.
struct Symmetry {
  enum class Axes { Kept, Swapped };
  Axes axes = Axes::Kept;
  std::array<uint8_t, kMaxSide> row_from{};
  std::array<uint8_t, kMaxSide> column_from{};
  std::array<uint8_t, kMaxSide + 1> digit_to{};
};

/// A symmetry drawn uniformly from the whole group for boards with this box side (2 or 3): 9! *
/// 2 * 6^8 for 3. Draw order: digits, transposition, bands and their rows, stacks and their
/// columns. Throws InvalidArgument on another box side.
Symmetry random_symmetry(int64_t box, Rng& rng);

/// Apply the same symmetry to a question and its answer to augment both jointly.
Board apply(const Symmetry& symmetry, const Board& board);
Puzzle apply(const Symmetry& symmetry, const Puzzle& puzzle);

}  // namespace driftless::task::sudoku
