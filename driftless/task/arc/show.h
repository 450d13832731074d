// SPDX-License-Identifier: Apache-2.0
// ARC grids and tasks for people: as text, in color, and in numbers. See task.h for what each does.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "driftless/task/arc/grid.h"
#include "driftless/task/drawing.h"

namespace driftless::task::arc {

/// The grid of a canvas.
std::string draw(std::span<const uint8_t> tokens);
Extent drawn_extent(int64_t cells);

/// Question and answer side by side in the usual palette.
std::string paint(const Picture& picture);
Extent painted_extent(int64_t cells);

/// As the fields of the same names of a task, over puzzles rather than boards.
std::string audit(std::span<const Puzzle> puzzles);
std::string stats(std::span<const Puzzle> puzzles);

}  // namespace driftless::task::arc
