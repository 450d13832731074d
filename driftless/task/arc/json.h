// SPDX-License-Identifier: Apache-2.0
// ARC files: one task a file, all tasks of a split in one file, or Kaggle's challenges with their
// solutions apart.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "driftless/task/arc/grid.h"

namespace driftless::task::arc {

/// {"train": [{"input": grid, "output": grid}], "test": [...]} gives one task named
/// `single_name`; {name: {"train": ..., "test": ...}} gives all, ordered by name. A test pair may
/// lack its output. Throws BadFile with `where` and the place inside.
std::vector<Puzzle> parse_puzzles(std::string_view text, const std::string& where,
                                  const std::string& single_name);

/// Fills in the test outputs from {name: [grid, ...]}. Throws BadFile when a task has no solution
/// or another number of them.
void add_solutions(std::vector<Puzzle>& puzzles, std::string_view text, const std::string& where);

/// Reads a file of either kind, or every *.json of a folder as one task each. For a file named
/// *_challenges.json the file *_solutions.json beside it is added where it exists.
std::vector<Puzzle> read_puzzles(const std::filesystem::path& path);

/// The grid as an array of rows.
nlohmann::json grid_to_json(const Grid& grid);

/// All tasks in one file, {name: {"train": ..., "test": ...}}; parse_puzzles reads it back, ordered
/// by name. Throws InvalidArgument when two tasks share a name.
std::string to_json(std::span<const Puzzle> puzzles);

}  // namespace driftless::task::arc
