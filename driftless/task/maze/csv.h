// SPDX-License-Identifier: Apache-2.0
// Maze files: the CSV of Maze-Hard.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "driftless/task/maze/board.h"

namespace driftless::task::maze {

/// CSV with the columns question and answer, optionally path_cells (source and rating are accepted
/// and not kept). Each answer must be its question with a shortest path drawn in. Throws BadFile
/// with file and line.
std::vector<Puzzle> parse_csv(std::string_view text, const std::string& where);
/// question,answer,path_cells; parse_csv reads it back.
std::string to_csv(std::span<const Puzzle> puzzles);

std::vector<Puzzle> read_puzzles(const std::filesystem::path& path);

}  // namespace driftless::task::maze
