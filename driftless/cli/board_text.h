// SPDX-License-Identifier: Apache-2.0
// Boards typed by a user, and boards shown to one.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "driftless/task/table.h"

namespace driftless::cli {

/// A Sudoku or maze on one line, with its answer as label. Throws InvalidArgument on another length
/// or alphabet, contradictory clues or a board without a solution; Unsupported for other tasks.
task::Example example_from_text(const task::Task& task, std::string_view text);

/// Whether a Sudoku has further solutions besides its label; false for other tasks.
bool is_ambiguous(const task::Task& task, const task::Example& example);

enum class Ink { Plain, Colored };

/// What a picture of a board compares.
struct Picture {
  std::span<const uint8_t> question;
  std::span<const uint8_t> before;  ///< the answer one step earlier
  std::span<const uint8_t> now;
};

/// The board as a square of text lines; Sudoku gets lines between its boxes. Colored: given cells
/// are bold, cells that changed since the step before are yellow.
std::string draw(const task::Task& task, const Picture& picture, Ink ink);

}  // namespace driftless::cli
