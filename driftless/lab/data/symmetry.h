// SPDX-License-Identifier: Apache-2.0
// What turns a board of a task into another board of equal worth: for augmentation, and to tell
// whether two boards are the same up to it. A task without a row here has the identity alone.
#pragma once

#include <cstdint>
#include <string>

#include "driftless/base/rng.h"
#include "driftless/task/table.h"

namespace driftless::lab {

/// The image of the board under a symmetry drawn uniformly: for Sudoku digits, bands, rows, stacks,
/// columns and transposition, for mazes the eight of the square. A maze has hundreds of shortest
/// paths or more and the rule that chooses one knows directions, so an image is labelled anew.
task::Example random_image(const task::Task& task, const task::Example& board, Rng& rng);

/// A text, equal for two boards exactly when a symmetry turns one question into the other. About
/// 0.1 ms for Sudoku. Throws InvalidArgument on what is no board of the task.
std::string canonical_text(const task::Task& task, const task::Example& board);

}  // namespace driftless::lab
