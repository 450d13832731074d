// SPDX-License-Identifier: Apache-2.0
// Boards in color for a terminal with UTF-8 and 256 colors.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "driftless/task/dihedral.h"
#include "driftless/task/table.h"

namespace driftless::cli {

/// What a picture of a board compares; all spans have as many tokens.
struct Picture {
  std::span<const uint8_t> question;
  std::span<const uint8_t> before;  ///< the answer one step earlier
  std::span<const uint8_t> now;
  /// Empty while the model works. At the end right and wrong cells are told apart by it.
  std::span<const uint8_t> label = {};
};

/// Lines of text with color sequences, none of them open at a line's end. Sudoku: clues bold, cells
/// that changed yellow, at the end right ones green and wrong ones red. Maze: two rows a line as
/// half blocks, the path in color. ARC: question and answer side by side in the usual palette.
std::string paint(const task::Task& task, const Picture& picture);

/// The most lines and columns that paint() takes.
task::Extent painted_extent(const task::Task& task, int64_t cells);

}  // namespace driftless::cli
