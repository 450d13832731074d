// SPDX-License-Identifier: Apache-2.0
// Sudoku boards for people: as text, in color, and in numbers. See task.h for what each does.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "driftless/task/task.h"

namespace driftless::task::sudoku {

/// Character of each token; the first stands for the pad.
inline constexpr std::string_view kAlphabet = "?.123456789";

/// With lines between the boxes.
std::string draw(std::span<const uint8_t> tokens);
Extent drawn_extent(int64_t cells);

/// Clues bold, cells that changed yellow, at the end right ones green and wrong ones red.
std::string paint(const Picture& picture);
Extent painted_extent(int64_t cells);

std::string audit(std::span<const Example> examples, const std::string& where);
std::string stats(std::span<const Example> examples);

}  // namespace driftless::task::sudoku
