// SPDX-License-Identifier: Apache-2.0
// One representative for all boards that differ by a symmetry (augment.h), to find repeats inside
// a set and to prove that a training pool and a test set are disjoint.
#pragma once

#include "driftless/task/sudoku/board.h"

namespace driftless::task::sudoku {

/// Two boards with one solution each are equivalent under the whole symmetry group exactly when
/// their canonical forms are equal. The form is the image of the question under those symmetries
/// that make the answer the lexicographically smallest of all its images; where several do, the
/// smallest image of the question.
///
/// Method: some row must become the first one, and names of digits make it 123456789 whatever the
/// order of columns. So every choice of transposition, first and second row (2 * 9 * 2) and order
/// of columns (6^4) is tried; the second row of the image decides almost all of them after a few
/// cells, and the remaining rows are then sorted by their first digit. About 0.1 ms a board.
///
/// Throws InvalidArgument unless the answer answers the question. Requires that no other does.
Board canonical_form(const Board& question, const Board& answer);

}  // namespace driftless::task::sudoku
