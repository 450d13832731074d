// SPDX-License-Identifier: Apache-2.0
// Mazes for people: as text, in color, and in numbers. See task.h for what each does.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "driftless/task/task.h"

namespace driftless::task::maze {

/// Cells of the path drawn in an answer, with S and G at its ends.
int64_t path_cells(std::span<const uint8_t> answer);

/// As its file has it.
std::string draw(std::span<const uint8_t> tokens);
Extent drawn_extent(int64_t cells);

/// Two rows a line as half blocks, the path in color.
std::string paint(const Picture& picture);
Extent painted_extent(int64_t cells);

std::string audit(std::span<const Example> examples, const std::string& where);
std::string stats(std::span<const Example> examples);

}  // namespace driftless::task::maze
