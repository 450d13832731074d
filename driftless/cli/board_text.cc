// SPDX-License-Identifier: Apache-2.0
#include "driftless/cli/board_text.h"

#include <cmath>

#include "driftless/base/error.h"
#include "driftless/task/maze/path.h"
#include "driftless/task/sudoku/board.h"
#include "driftless/task/sudoku/solver.h"

namespace driftless::cli {
namespace {

namespace maze = task::maze;
namespace sudoku = task::sudoku;

constexpr uint8_t kSudokuBlank = 1;

task::Example sudoku_example(std::string_view text) {
  const sudoku::Board question = sudoku::parse_line(text);
  const auto conflict = sudoku::find_conflict(question);
  DRIFTLESS_REQUIRE(!conflict, ErrorCode::InvalidArgument, "board: contradictory clues; ",
                    sudoku::describe(*conflict, question));
  const sudoku::Solved solved = sudoku::solve(question);
  DRIFTLESS_REQUIRE(solved.solutions > 0, ErrorCode::InvalidArgument,
                    "board: the clues leave no solution");
  return {
      .name = {}, .input = sudoku::to_tokens(question), .label = sudoku::to_tokens(solved.answer)};
}

task::Example maze_example(std::string_view text) {
  const maze::Board question = maze::parse_line(text);
  const auto labelled = maze::label(question);
  DRIFTLESS_REQUIRE(labelled, ErrorCode::InvalidArgument, "board: no way leads from S to G");
  return {.name = {}, .input = question.cells, .label = labelled->answer.cells};
}

/// Before column or row `index`: a separator between the boxes of a Sudoku.
bool starts_box(const task::Task& task, int64_t side, int64_t index) {
  const auto box = static_cast<int64_t>(std::sqrt(static_cast<double>(side)));
  return task.name == "sudoku" && index > 0 && index % box == 0;
}

}  // namespace

task::Example example_from_text(const task::Task& task, std::string_view text) {
  if (task.name == "sudoku") return sudoku_example(text);
  if (task.name == "maze") return maze_example(text);
  fail(ErrorCode::Unsupported, "board: one-line boards are for sudoku and maze; got a model for ",
       task.name, "; use --file");
}

bool is_ambiguous(const task::Task& task, const task::Example& example) {
  return task.name == "sudoku" &&
         sudoku::solve(sudoku::board_from_tokens(example.input)).solutions > 1;
}

std::string draw(const task::Task& task, const Picture& picture, Ink ink) {
  const auto side = static_cast<int64_t>(std::sqrt(static_cast<double>(picture.now.size())));
  const bool is_sudoku = task.name == "sudoku";
  const std::string text = task::to_text(task, picture.now);
  std::string drawing;
  for (int64_t row = 0; row < side; ++row) {
    std::string line;
    for (int64_t column = 0; column < side; ++column) {
      const auto cell = static_cast<size_t>(row * side + column);
      if (starts_box(task, side, column)) line += "| ";
      const bool is_given = is_sudoku && picture.question[cell] != kSudokuBlank;
      const bool is_new = picture.now[cell] != picture.before[cell];
      const char* color = is_given ? "\x1b[1m" : is_new ? "\x1b[33m" : nullptr;
      if (ink == Ink::Plain) color = nullptr;
      if (color != nullptr) line += color;
      line += text[cell];
      if (color != nullptr) line += "\x1b[0m";
      if (is_sudoku && column + 1 < side) line += ' ';
    }
    if (starts_box(task, side, row)) {
      for (int64_t column = 0; column < side; ++column)
        drawing += std::string(starts_box(task, side, column) ? "+-" : "") +
                   (column + 1 < side ? "--" : "-");
      drawing += '\n';
    }
    drawing += line + "\n";
  }
  return drawing;
}

}  // namespace driftless::cli
