// SPDX-License-Identifier: Apache-2.0
#include "driftless/task/maze/board.h"

#include <algorithm>
#include <cmath>

#include "driftless/base/error.h"

namespace driftless::task::maze {
namespace {

int64_t side_of_size(size_t cells) {
  const auto side = std::llround(std::sqrt(static_cast<double>(cells)));
  DRIFTLESS_REQUIRE(side > 1 && static_cast<size_t>(side * side) == cells,
                    ErrorCode::InvalidArgument, "maze: wrong board length; got ", cells,
                    " cells, expected the square of a side of 2 or more");
  return side;
}

}  // namespace

Board parse_line(std::string_view line) {
  Board board{.side = side_of_size(line.size())};
  board.cells.reserve(line.size());
  for (const char c : line) {
    const size_t token = kAlphabet.find(c, 1);
    DRIFTLESS_REQUIRE(token != std::string_view::npos, ErrorCode::InvalidArgument,
                      "maze: bad character in cell ", board.cells.size() + 1, "; got '", c,
                      "', expected one of '#', ' ', 'S', 'G', 'o'");
    board.cells.push_back(static_cast<uint8_t>(token));
  }
  return board;
}

std::string to_line(const Board& board) {
  std::string line;
  for (const uint8_t token : board.cells) line += kAlphabet[token];
  return line;
}

Board board_from_tokens(std::span<const uint8_t> tokens) {
  Board board{.side = side_of_size(tokens.size()), .cells = {tokens.begin(), tokens.end()}};
  const auto bad = std::find_if(board.cells.begin(), board.cells.end(),
                                [](uint8_t token) { return token < kWall || token > kPath; });
  DRIFTLESS_REQUIRE(bad == board.cells.end(), ErrorCode::InvalidArgument,
                    "maze: bad token in cell ", bad - board.cells.begin() + 1, "; got ",
                    int64_t{*bad}, ", expected 1 to 5");
  return board;
}

void require_question(const Board& board) {
  const auto count = [&](uint8_t cell) {
    return std::count(board.cells.begin(), board.cells.end(), cell);
  };
  DRIFTLESS_REQUIRE(count(kStart) == 1 && count(kGoal) == 1 && count(kPath) == 0,
                    ErrorCode::InvalidArgument, "maze: not a question; got ", count(kStart), " S, ",
                    count(kGoal), " G and ", count(kPath), " o, expected 1, 1 and 0");
}

Board apply(Dihedral symmetry, const Board& board) {
  const Extent extent{.rows = board.side, .columns = board.side};
  return {.side = board.side, .cells = image_cells(symmetry, extent, board.cells)};
}

Puzzle apply(Dihedral symmetry, const Puzzle& puzzle) {
  return {.question = apply(symmetry, puzzle.question),
          .answer = apply(symmetry, puzzle.answer),
          .path_cells = puzzle.path_cells};
}

}  // namespace driftless::task::maze
