// SPDX-License-Identifier: Apache-2.0
// What the pictures of all tasks are made of.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "driftless/task/dihedral.h"

namespace driftless::task {

/// What a picture of a board compares; all spans have as many tokens.
struct Picture {
  std::span<const uint8_t> question;
  std::span<const uint8_t> before;  ///< the answer one step earlier
  std::span<const uint8_t> now;
  /// Empty while the model works. At the end right and wrong cells are told apart by it.
  std::span<const uint8_t> label = {};
};

/// Ends every color.
inline constexpr const char* kPlainInk = "\x1b[0m";

/// The side of a square of so many cells.
int64_t side_of(int64_t cells);

/// The text cut into lines of so many characters.
std::string draw_rows(std::string_view text, int64_t columns);

/// Colors of the 256-color palette, row by row.
struct Pixels {
  Extent extent;
  std::vector<int> colors;
};

/// Two rows of pixels a line: the upper one colors the half block, the lower one its background.
std::vector<std::string> half_blocks(const Pixels& pixels);

}  // namespace driftless::task
