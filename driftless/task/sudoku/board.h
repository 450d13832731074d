// SPDX-License-Identifier: Apache-2.0
// A Sudoku board of 9x9 cells (boxes of 3x3) or 4x4 cells (boxes of 2x2), its one-line text and its
// tokens: 0 pad (never inside a board), 1 blank, digit + 1 otherwise.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace driftless::task::sudoku {

inline constexpr int64_t kMaxSide = 9;
inline constexpr int64_t kMaxCells = kMaxSide * kMaxSide;

/// Cells row by row, 0 for a blank, else the digit 1..side(). Cells past size() stay 0.
struct Board {
  int64_t box = 3;
  std::array<uint8_t, kMaxCells> cells{};

  [[nodiscard]] constexpr int64_t side() const { return box * box; }
  [[nodiscard]] constexpr int64_t size() const { return side() * side(); }
  [[nodiscard]] constexpr uint8_t& at(int64_t cell) { return cells[static_cast<size_t>(cell)]; }
  [[nodiscard]] constexpr uint8_t at(int64_t cell) const {
    return cells[static_cast<size_t>(cell)];
  }
  [[nodiscard]] int64_t clue_count() const;

  friend bool operator==(const Board&, const Board&) = default;
  /// By box, then cell by cell. Written out: not every library orders arrays in three ways.
  friend std::strong_ordering operator<=>(const Board& a, const Board& b) {
    if (a.box != b.box) return a.box <=> b.box;
    return std::memcmp(a.cells.data(), b.cells.data(), a.cells.size()) <=> 0;
  }
};

/// A board with its answer. `rating` counts guesses: those of the file it came from, or ours
/// (solver.h).
struct Puzzle {
  std::string source{};
  Board question{};
  Board answer{};
  int64_t rating = 0;

  friend bool operator==(const Puzzle&, const Puzzle&) = default;
};

/// The box side of boards with `cells` cells; throws InvalidArgument unless it is 16 or 81.
int64_t box_of_size(int64_t cells);

/// Reads 81 or 16 characters, '.' or '0' for a blank. Throws InvalidArgument on anything else.
Board parse_line(std::string_view line);
/// The inverse of parse_line, with '.' for a blank.
std::string to_line(const Board& board);

/// 81 or 16 tokens of 1..side+1. Throws InvalidArgument on anything else.
Board board_from_tokens(std::span<const uint8_t> tokens);
std::vector<uint8_t> to_tokens(const Board& board);

/// Two cells of one row, column or box that hold the same digit.
struct Conflict {
  int64_t first_cell;
  int64_t second_cell;
  uint8_t digit;
};
/// The conflict whose second cell, then first cell, comes first; nothing when the rules hold.
std::optional<Conflict> find_conflict(const Board& board);
/// "r1c4 and r1c7 both hold 5".
std::string describe(const Conflict& conflict, const Board& board);

/// Whether `answer` is full, follows the rules and keeps every clue of `question`.
bool is_answer(const Board& question, const Board& answer);

}  // namespace driftless::task::sudoku
