// SPDX-License-Identifier: Apache-2.0
// A square maze of any side, its text and its tokens: 0 pad (never inside a board), 1 wall '#',
// 2 open ' ', 3 start 'S', 4 goal 'G', 5 path 'o'.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "driftless/task/dihedral.h"

namespace driftless::task::maze {

inline constexpr uint8_t kWall = 1;
inline constexpr uint8_t kOpen = 2;
inline constexpr uint8_t kStart = 3;
inline constexpr uint8_t kGoal = 4;
inline constexpr uint8_t kPath = 5;
/// Character of each token; the first stands for the pad.
inline constexpr std::string_view kAlphabet = "?# SGo";

/// Cells are tokens, row by row.
struct Board {
  int64_t side = 0;
  std::vector<uint8_t> cells{};

  [[nodiscard]] int64_t size() const { return side * side; }
  [[nodiscard]] uint8_t& at(int64_t cell) { return cells[static_cast<size_t>(cell)]; }
  [[nodiscard]] uint8_t at(int64_t cell) const { return cells[static_cast<size_t>(cell)]; }

  friend bool operator==(const Board&, const Board&) = default;
};

/// A maze and the same maze with a shortest path drawn as 'o' between S and G. `path_cells` is the
/// number of cells of that path with both ends.
struct Puzzle {
  Board question{};
  Board answer{};
  int64_t path_cells = 0;

  friend bool operator==(const Puzzle&, const Puzzle&) = default;
};

/// Reads side * side characters. Throws InvalidArgument on another length or alphabet.
Board parse_line(std::string_view line);
std::string to_line(const Board& board);

/// side * side tokens of 1..5. Throws InvalidArgument on anything else.
Board board_from_tokens(std::span<const uint8_t> tokens);

/// Throws InvalidArgument unless the board has one S, one G and no path.
void require_question(const Board& board);

/// Moves the cells of question and answer alike. The image of the answer is a shortest path, but
/// perhaps not the one that label() draws, because that rule prefers some directions.
Board apply(Dihedral symmetry, const Board& board);
Puzzle apply(Dihedral symmetry, const Puzzle& puzzle);

}  // namespace driftless::task::maze
