// SPDX-License-Identifier: Apache-2.0
#include "driftless/cli/terminal/board_paint.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "driftless/task/arc/grid.h"
#include "driftless/task/maze/board.h"

namespace driftless::cli {
namespace {

constexpr const char* kReset = "\x1b[0m";
constexpr uint8_t kSudokuBlank = 1;
constexpr int64_t kArrowWidth = 5;

int64_t root(int64_t square) { return std::llround(std::sqrt(static_cast<double>(square))); }

const char* sudoku_style(const Picture& picture, size_t cell) {
  if (picture.question[cell] != kSudokuBlank) return "\x1b[1m";
  if (!picture.label.empty())
    return picture.now[cell] == picture.label[cell] ? "\x1b[32m" : "\x1b[1;31m";
  if (picture.now[cell] == kSudokuBlank) return "\x1b[2m";
  return picture.now[cell] != picture.before[cell] ? "\x1b[33m" : "";
}

/// "├───┼───┤": `ends` are its left end, crossing and right end.
std::string sudoku_rule(const std::array<const char*, 3>& ends, int64_t box) {
  std::string rule = ends[0];
  for (int64_t i = 0; i < box; ++i) {
    for (int64_t dash = 0; dash < 2 * box + 1; ++dash) rule += "─";
    rule += i + 1 < box ? ends[1] : ends[2];
  }
  return rule + "\n";
}

std::string paint_sudoku(const task::Task& task, const Picture& picture) {
  const int64_t side = root(std::ssize(picture.now));
  const int64_t box = root(side);
  const std::string text = task::to_text(task, picture.now);
  std::string drawing = sudoku_rule({"╭", "┬", "╮"}, box);
  for (int64_t row = 0; row < side; ++row) {
    if (row > 0 && row % box == 0) drawing += sudoku_rule({"├", "┼", "┤"}, box);
    for (int64_t column = 0; column < side; ++column) {
      const auto cell = static_cast<size_t>(row * side + column);
      if (column % box == 0) drawing += "│ ";
      drawing += sudoku_style(picture, cell);
      drawing += picture.now[cell] == kSudokuBlank ? "·" : std::string(1, text[cell]);
      drawing += kReset;
      drawing += ' ';
    }
    drawing += "│\n";
  }
  return drawing + sudoku_rule({"╰", "┴", "╯"}, box);
}

/// Colors of the 256-color palette, row by row.
struct Pixels {
  int64_t rows;
  int64_t columns;
  std::vector<int> colors;
};

/// Two rows of pixels a line: the upper one colors the half block, the lower one its background.
std::vector<std::string> half_blocks(const Pixels& pixels) {
  std::vector<std::string> lines;
  for (int64_t row = 0; row < pixels.rows; row += 2) {
    std::string line;
    for (int64_t column = 0; column < pixels.columns; ++column) {
      const auto at = static_cast<size_t>(row * pixels.columns + column);
      line += "\x1b[38;5;" + std::to_string(pixels.colors[at]) + "m";
      if (row + 1 < pixels.rows)
        line += "\x1b[48;5;" +
                std::to_string(pixels.colors[at + static_cast<size_t>(pixels.columns)]) + "m";
      line += "▀";
    }
    lines.push_back(line + kReset);
  }
  return lines;
}

/// By token: pad, wall, open, S, G, path.
constexpr std::array<int, 6> kMazeColors = {16, 240, 234, 46, 196, 220};
constexpr int kRightPath = 40;
constexpr int kWrongPath = 208;

int maze_color(const Picture& picture, size_t cell) {
  const uint8_t token = picture.now[cell];
  if (token >= kMazeColors.size()) return kMazeColors[0];
  if (token != task::maze::kPath || picture.label.empty()) return kMazeColors[token];
  return picture.label[cell] == task::maze::kPath ? kRightPath : kWrongPath;
}

std::string paint_maze(const Picture& picture) {
  const int64_t side = root(std::ssize(picture.now));
  Pixels pixels{.rows = side, .columns = side, .colors = {}};
  for (size_t cell = 0; cell < picture.now.size(); ++cell)
    pixels.colors.push_back(maze_color(picture, cell));
  std::string drawing;
  for (const std::string& line : half_blocks(pixels)) drawing += line + "\n";
  return drawing;
}

/// The colors 0 to 9 as ARC's own pages show them.
constexpr std::array<int, task::arc::kColours> kArcColors = {16,  33,  196, 40,  226,
                                                             244, 201, 208, 117, 88};

std::vector<std::string> paint_grid(std::span<const uint8_t> tokens) {
  const task::arc::Grid grid = task::arc::crop(tokens);
  Pixels pixels{.rows = grid.extent.rows, .columns = grid.extent.columns, .colors = {}};
  for (const uint8_t colour : grid.cells) pixels.colors.push_back(kArcColors[colour]);
  std::vector<std::string> lines = half_blocks(pixels);
  if (lines.empty()) lines.emplace_back("(no grid)");
  return lines;
}

std::string paint_arc(const Picture& picture) {
  const std::vector<std::string> question = paint_grid(picture.question);
  const std::vector<std::string> answer = paint_grid(picture.now);
  const auto width = static_cast<size_t>(task::arc::crop(picture.question).extent.columns);
  const size_t middle = (question.size() - 1) / 2;
  std::string drawing;
  for (size_t i = 0; i < std::max(question.size(), answer.size()); ++i) {
    drawing += i < question.size() ? question[i] : std::string(width, ' ');
    drawing += i == middle ? "  →  " : std::string(kArrowWidth, ' ');
    drawing += (i < answer.size() ? answer[i] : "") + "\n";
  }
  return drawing;
}

}  // namespace

std::string paint(const task::Task& task, const Picture& picture) {
  if (task.name == "sudoku") return paint_sudoku(task, picture);
  return task.name == "maze" ? paint_maze(picture) : paint_arc(picture);
}

task::Extent painted_extent(const task::Task& task, int64_t cells) {
  const int64_t side = root(cells);
  const int64_t box = root(side);
  if (task.name == "sudoku") return {.rows = side + box + 1, .columns = 2 * (side + box) + 1};
  const int64_t columns = task.name == "maze" ? side : 2 * side + kArrowWidth;
  return {.rows = (side + 1) / 2, .columns = columns};
}

}  // namespace driftless::cli
