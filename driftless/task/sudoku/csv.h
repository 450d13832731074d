// SPDX-License-Identifier: Apache-2.0
// Sudoku files: the CSV of Sudoku-Extreme and plain one-line boards.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "driftless/task/sudoku/board.h"

namespace driftless::task::sudoku {

/// CSV with the columns question and answer (see task/csv.h for their other names), optionally
/// source and rating (or guesses); id, clues and difficulty are read over. Every answer is checked
/// against its question and the rules. Throws BadFile with file and line.
std::vector<Puzzle> parse_csv(std::string_view text, const std::string& where);
/// The same columns with `rating`; parse_csv reads it back. Throws InvalidArgument when a source
/// holds a comma or line end.
std::string to_csv(std::span<const Puzzle> puzzles);

/// One board a line (81 or 16 characters), answered and rated by the solver. A board with several
/// solutions gets one of them; clues without a solution throw BadFile with the contradiction.
std::vector<Puzzle> parse_lines(std::string_view text, const std::string& where);

/// Either kind: a CSV has a header.
std::vector<Puzzle> parse_puzzles(std::string_view text, const std::string& where);
std::vector<Puzzle> read_puzzles(const std::filesystem::path& path);

}  // namespace driftless::task::sudoku
