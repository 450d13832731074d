// SPDX-License-Identifier: Apache-2.0
#include "driftless/task/sudoku/board.h"

#include <algorithm>
#include <sstream>

#include "driftless/base/error.h"

namespace driftless::task::sudoku {
namespace {

int64_t box_index(const Board& board, int64_t cell) {
  const int64_t side = board.side();
  return cell / side / board.box * board.box + cell % side / board.box;
}

bool see_each_other(const Board& board, int64_t a, int64_t b) {
  const int64_t side = board.side();
  return a / side == b / side || a % side == b % side || box_index(board, a) == box_index(board, b);
}

/// Whether no row, column or box repeats a digit; much faster than finding where.
bool follows_rules(const Board& board) {
  std::array<std::array<uint32_t, kMaxSide>, 3> seen{};  // digits by row, column and box
  for (int64_t cell = 0; cell < board.size(); ++cell) {
    if (board.at(cell) == 0) continue;
    const uint32_t digit = 1u << board.at(cell);
    const std::array<int64_t, 3> units = {cell / board.side(), cell % board.side(),
                                          box_index(board, cell)};
    for (size_t kind = 0; kind < units.size(); ++kind) {
      uint32_t& digits = seen[kind][static_cast<size_t>(units[kind])];
      if ((digits & digit) != 0) return false;
      digits |= digit;
    }
  }
  return true;
}

}  // namespace

int64_t Board::clue_count() const {
  return std::count_if(cells.begin(), cells.end(), [](uint8_t digit) { return digit != 0; });
}

int64_t box_of_size(int64_t cells) {
  DRIFTLESS_REQUIRE(cells == 81 || cells == 16, ErrorCode::InvalidArgument,
                    "sudoku: wrong board length; got ", cells,
                    " cells, expected 81 (9x9) or 16 (4x4)");
  return cells == 81 ? 3 : 2;
}

Board parse_line(std::string_view line) {
  Board board{.box = box_of_size(static_cast<int64_t>(line.size()))};
  for (int64_t cell = 0; cell < board.size(); ++cell) {
    const char c = line[static_cast<size_t>(cell)];
    const int64_t digit = c == '.' ? 0 : c - '0';
    DRIFTLESS_REQUIRE(digit >= 0 && digit <= board.side(), ErrorCode::InvalidArgument,
                      "sudoku: bad character in cell ", cell + 1, "; got '", c,
                      "', expected a digit 1 to ", board.side(), ", or '.' or '0' for a blank");
    board.at(cell) = static_cast<uint8_t>(digit);
  }
  return board;
}

std::string to_line(const Board& board) {
  std::string line(static_cast<size_t>(board.size()), '.');
  for (size_t cell = 0; cell < line.size(); ++cell)
    if (board.cells[cell] != 0) line[cell] = static_cast<char>('0' + board.cells[cell]);
  return line;
}

Board board_from_tokens(std::span<const uint8_t> tokens) {
  Board board{.box = box_of_size(static_cast<int64_t>(tokens.size()))};
  for (int64_t cell = 0; cell < board.size(); ++cell) {
    const int64_t token = tokens[static_cast<size_t>(cell)];
    DRIFTLESS_REQUIRE(token >= 1 && token <= board.side() + 1, ErrorCode::InvalidArgument,
                      "sudoku: bad token in cell ", cell + 1, "; got ", token, ", expected 1 to ",
                      board.side() + 1);
    board.at(cell) = static_cast<uint8_t>(token - 1);
  }
  return board;
}

std::vector<uint8_t> to_tokens(const Board& board) {
  std::vector<uint8_t> tokens(board.cells.begin(), board.cells.begin() + board.size());
  for (uint8_t& token : tokens) ++token;
  return tokens;
}

std::optional<Conflict> find_conflict(const Board& board) {
  if (follows_rules(board)) return std::nullopt;
  for (int64_t second = 0; second < board.size(); ++second) {
    const uint8_t digit = board.at(second);
    if (digit == 0) continue;
    for (int64_t first = 0; first < second; ++first)
      if (board.at(first) == digit && see_each_other(board, first, second))
        return Conflict{.first_cell = first, .second_cell = second, .digit = digit};
  }
  return std::nullopt;
}

std::string describe(const Conflict& conflict, const Board& board) {
  std::ostringstream text;
  const auto name = [&](int64_t cell) {
    text << 'r' << cell / board.side() + 1 << 'c' << cell % board.side() + 1;
  };
  name(conflict.first_cell);
  text << " and ";
  name(conflict.second_cell);
  text << " both hold " << int64_t{conflict.digit};
  return text.str();
}

bool is_answer(const Board& question, const Board& answer) {
  if (question.box != answer.box || answer.clue_count() != answer.size()) return false;
  for (int64_t cell = 0; cell < question.size(); ++cell)
    if (question.at(cell) != 0 && question.at(cell) != answer.at(cell)) return false;
  return !find_conflict(answer);
}

}  // namespace driftless::task::sudoku
