// SPDX-License-Identifier: Apache-2.0
// Exact solving: whether a board has no, one or several solutions, and how many guesses the proof
// takes.
#pragma once

#include <cstdint>

#include "driftless/base/rng.h"
#include "driftless/task/sudoku/board.h"

namespace driftless::task::sudoku {

struct Solved {
  /// 0, 1, or 2 for two or more.
  int64_t solutions = 0;
  /// The first solution found; all blank when there is none.
  Board answer;
  /// The rating: how often the search had to branch. The search places naked and hidden singles
  /// and clears locked candidates until nothing changes, then branches: of the open cells with the
  /// fewest digits it takes the one whose digits have the most candidates among its peers (first
  /// in row-major order on ties), tries its digits in ascending order, and stops when every branch
  /// is closed or two solutions are known. Each branching counts one, so 0 means that the
  /// deductions suffice; for a board with one solution it is the number of inner nodes of the whole
  /// proof of uniqueness. It is deterministic, but equivalent boards may differ because of the
  /// tie rule.
  int64_t guesses = 0;
};

/// Solves or refutes the board. Contradictory clues give 0 solutions; find_conflict says where.
Solved solve(const Board& question);

/// Whether the other clues leave the clue in `cell` no other digit, so that it says nothing new.
/// Requires a clue in the cell and a board with a solution. Cheaper than solve() without the clue.
bool is_implied(const Board& question, int64_t cell);

/// One solution, found by trying the digits of each branching cell in random order. Throws
/// InvalidArgument when there is none.
Board solve_randomly(const Board& question, Rng& rng);

}  // namespace driftless::task::sudoku
