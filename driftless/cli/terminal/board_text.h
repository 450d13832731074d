// SPDX-License-Identifier: Apache-2.0
// Boards typed by a user, and boards shown to one as plain text.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "driftless/task/dihedral.h"
#include "driftless/task/table.h"

namespace driftless::cli {

/// A Sudoku or maze on one line, with its answer as label. Throws InvalidArgument on another length
/// or alphabet, contradictory clues or a board without a solution; Unsupported for other tasks.
task::Example example_from_text(const task::Task& task, std::string_view text);

/// Whether a Sudoku has further solutions besides its label; false for other tasks.
bool is_ambiguous(const task::Task& task, const task::Example& example);

/// The tokens as lines of text: a Sudoku with lines between its boxes, a maze as its file has it,
/// the grid of an ARC canvas.
std::string draw(const task::Task& task, std::span<const uint8_t> tokens);

/// The most lines and columns that draw() takes.
task::Extent drawn_extent(const task::Task& task, int64_t cells);

}  // namespace driftless::cli
