// SPDX-License-Identifier: Apache-2.0
// Boards of our own: one solution, no clue that could be left out.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>

#include "driftless/base/rng.h"
#include "driftless/task/sudoku/board.h"

namespace driftless::task::sudoku {

struct GeneratorOptions {
  int64_t box = 3;
  /// Boards whose rating (Solved::guesses) lies outside are thrown away.
  int64_t min_rating = 0;
  int64_t max_rating = std::numeric_limits<int64_t>::max();
  /// How many boards to throw away in a row before giving up.
  int64_t max_attempts = 100'000;
};

/// A full board that follows the rules, filled by a randomized search (not exactly uniform).
Board random_full_board(int64_t box, Rng& rng);

/// A minimal board with one solution and its rating, or nothing where that lies outside. Takes a
/// full board, keeps clues in a random order just until they have one solution, then drops each
/// clue, in the same order, that the others imply. Throws InvalidArgument when options are out of
/// range.
std::optional<Puzzle> try_generate(const GeneratorOptions& options, Rng& rng);

/// Tries until a board passes. Throws InvalidArgument, besides, after max_attempts.
Puzzle generate(const GeneratorOptions& options, Rng& rng);

}  // namespace driftless::task::sudoku
