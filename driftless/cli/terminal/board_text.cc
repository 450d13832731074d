// SPDX-License-Identifier: Apache-2.0
#include "driftless/cli/terminal/board_text.h"

#include <cmath>

#include "driftless/base/error.h"
#include "driftless/task/arc/grid.h"
#include "driftless/task/maze/path.h"
#include "driftless/task/sudoku/board.h"
#include "driftless/task/sudoku/solver.h"

namespace driftless::cli {
namespace {

namespace maze = task::maze;
namespace sudoku = task::sudoku;

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

int64_t root(int64_t square) { return std::llround(std::sqrt(static_cast<double>(square))); }

std::string draw_sudoku(const std::string& text, int64_t side) {
  const int64_t box = root(side);
  const auto starts_box = [&](int64_t index) { return index > 0 && index % box == 0; };
  std::string drawing;
  for (int64_t row = 0; row < side; ++row) {
    std::string line;
    std::string rule;
    for (int64_t column = 0; column < side; ++column) {
      const bool is_last = column + 1 == side;
      if (starts_box(column)) line += "| ";
      if (starts_box(column)) rule += "+-";
      line += text[static_cast<size_t>(row * side + column)];
      line += is_last ? "\n" : " ";
      rule += is_last ? "-\n" : "--";
    }
    if (starts_box(row)) drawing += rule;
    drawing += line;
  }
  return drawing;
}

/// One line of text per row.
std::string draw_rows(std::string_view text, int64_t columns) {
  std::string drawing;
  for (size_t first = 0; first < text.size(); first += static_cast<size_t>(columns)) {
    drawing += text.substr(first, static_cast<size_t>(columns));
    drawing += '\n';
  }
  return drawing;
}

std::string draw_grid(std::span<const uint8_t> tokens) {
  const task::arc::Grid grid = task::arc::crop(tokens);
  if (grid.cells.empty()) return "(no grid)\n";
  std::string text;
  for (const uint8_t colour : grid.cells) text += static_cast<char>('0' + colour);
  return draw_rows(text, grid.extent.columns);
}

}  // namespace

task::Example example_from_text(const task::Task& task, std::string_view text) {
  if (task.name == "sudoku") return sudoku_example(text);
  if (task.name == "maze") return maze_example(text);
  fail(ErrorCode::Unsupported, "board: one-line boards are for sudoku and maze; got a model for ",
       task.name, "; use --data");
}

bool is_ambiguous(const task::Task& task, const task::Example& example) {
  return task.name == "sudoku" &&
         sudoku::solve(sudoku::board_from_tokens(example.input)).solutions > 1;
}

std::string draw(const task::Task& task, std::span<const uint8_t> tokens) {
  if (task.name == "arc") return draw_grid(tokens);
  const std::string text = task::to_text(task, tokens);
  const int64_t side = root(std::ssize(tokens));
  return task.name == "sudoku" ? draw_sudoku(text, side) : draw_rows(text, side);
}

task::Extent drawn_extent(const task::Task& task, int64_t cells) {
  const int64_t side = root(cells);
  if (task.name != "sudoku") return {.rows = side, .columns = side};
  const int64_t rules = root(side) - 1;
  return {.rows = side + rules, .columns = 2 * side - 1 + 2 * rules};
}

}  // namespace driftless::cli
