// SPDX-License-Identifier: Apache-2.0
#include "driftless/lab/data/symmetry.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "driftless/base/error.h"
#include "driftless/task/maze/board.h"
#include "driftless/task/maze/path.h"
#include "driftless/task/sudoku/augment.h"
#include "driftless/task/sudoku/canonical.h"

namespace driftless::lab {
namespace {

using task::Example;
namespace maze = task::maze;
namespace sudoku = task::sudoku;

Example sudoku_image(const Example& board, Rng& rng) {
  const sudoku::Board question = sudoku::board_from_tokens(board.input);
  const sudoku::Symmetry symmetry = sudoku::random_symmetry(question.box, rng);
  return {board.name, sudoku::to_tokens(apply(symmetry, question)),
          sudoku::to_tokens(apply(symmetry, sudoku::board_from_tokens(board.label)))};
}

std::vector<uint8_t> sudoku_form(const Example& board) {
  return sudoku::to_tokens(sudoku::canonical_form(sudoku::board_from_tokens(board.input),
                                                  sudoku::board_from_tokens(board.label)));
}

Example maze_image(const Example& board, Rng& rng) {
  const auto symmetry =
      task::dihedral_from_id(static_cast<int64_t>(rng.below(task::kDihedralCount)));
  const auto image = maze::label(maze::apply(symmetry, maze::board_from_tokens(board.input)));
  DRIFTLESS_REQUIRE(image, ErrorCode::InvalidArgument, "maze '", board.name,
                    "': no path from S to G");
  return {board.name, image->question.cells, image->answer.cells};
}

std::vector<uint8_t> maze_form(const Example& board) {
  const maze::Board question = maze::board_from_tokens(board.input);
  std::vector<uint8_t> least = question.cells;
  for (int64_t id = 1; id < task::kDihedralCount; ++id)
    least = std::min(least, maze::apply(task::dihedral_from_id(id), question).cells);
  return least;
}

struct Row {
  std::string_view task;
  Example (*image)(const Example& board, Rng& rng);
  std::vector<uint8_t> (*form)(const Example& board);
};
constexpr std::array kRows = {Row{"sudoku", sudoku_image, sudoku_form},
                              Row{"maze", maze_image, maze_form}};

const Row* find_row(const task::Task& task) {
  const auto row = std::find_if(kRows.begin(), kRows.end(),
                                [&](const Row& candidate) { return candidate.task == task.name; });
  return row == kRows.end() ? nullptr : &*row;
}

}  // namespace

Example random_image(const task::Task& task, const Example& board, Rng& rng) {
  const Row* row = find_row(task);
  return row == nullptr ? board : row->image(board, rng);
}

std::string canonical_text(const task::Task& task, const Example& board) {
  const Row* row = find_row(task);
  return to_text(task, row == nullptr ? board.input : row->form(board));
}

}  // namespace driftless::lab
