// SPDX-License-Identifier: Apache-2.0
#include "driftless/task/arc/show.h"

#include <algorithm>
#include <array>
#include <set>
#include <vector>

#include "driftless/task/arc/json.h"
#include "driftless/task/summary.h"

namespace driftless::task::arc {
namespace {

constexpr int64_t kArrowWidth = 5;

/// The colors 0 to 9 as ARC's own pages show them.
constexpr std::array<int, kColorCount> kColors = {16, 33, 196, 40, 226, 244, 201, 208, 117, 88};

std::vector<std::string> paint_grid(std::span<const uint8_t> tokens) {
  const Grid grid = crop(tokens);
  Pixels pixels{.extent = grid.extent, .colors = {}};
  for (const uint8_t color : grid.cells) pixels.colors.push_back(kColors[color]);
  std::vector<std::string> lines = half_blocks(pixels);
  if (lines.empty()) lines.emplace_back("(no grid)");
  return lines;
}

struct Counts {
  int64_t train = 0, test = 0, unknown = 0;
};

Counts count_pairs(std::span<const Puzzle> puzzles) {
  Counts counts;
  for (const Puzzle& puzzle : puzzles) {
    counts.train += std::ssize(puzzle.train);
    counts.test += std::ssize(puzzle.test);
    counts.unknown += std::count_if(puzzle.test.begin(), puzzle.test.end(),
                                    [](const Pair& pair) { return !pair.output; });
  }
  return counts;
}

}  // namespace

std::string draw(std::span<const uint8_t> tokens) {
  const Grid grid = crop(tokens);
  if (grid.cells.empty()) return "(no grid)\n";
  std::string text;
  for (const uint8_t color : grid.cells) text += static_cast<char>('0' + color);
  return draw_rows(text, grid.extent.columns);
}

Extent drawn_extent(int64_t cells) {
  const int64_t side = side_of(cells);
  return {.rows = side, .columns = side};
}

std::string paint(const Picture& picture) {
  const std::vector<std::string> question = paint_grid(picture.question);
  const std::vector<std::string> answer = paint_grid(picture.now);
  const auto width = static_cast<size_t>(crop(picture.question).extent.columns);
  const size_t middle = (question.size() - 1) / 2;
  std::string drawing;
  for (size_t i = 0; i < std::max(question.size(), answer.size()); ++i) {
    drawing += i < question.size() ? question[i] : std::string(width, ' ');
    drawing += i == middle ? "  →  " : std::string(kArrowWidth, ' ');
    drawing += (i < answer.size() ? answer[i] : "") + "\n";
  }
  return drawing;
}

Extent painted_extent(int64_t cells) {
  const int64_t side = side_of(cells);
  return {.rows = (side + 1) / 2, .columns = 2 * side + kArrowWidth};
}

std::string audit(std::span<const Puzzle> puzzles) {
  std::set<std::string> kinds;
  int64_t bare = 0;
  for (Puzzle puzzle : puzzles) {
    if (puzzle.train.empty() || puzzle.test.empty()) ++bare;
    puzzle.name.clear();
    kinds.insert(to_json(std::span(&puzzle, 1)));
  }
  return told("without demonstrations or test inputs", bare) +
         told("test inputs without output", count_pairs(puzzles).unknown) +
         told("equal to an earlier task", std::ssize(puzzles) - std::ssize(kinds));
}

std::string stats(std::span<const Puzzle> puzzles) {
  const Counts counts = count_pairs(puzzles);
  std::vector<int64_t> demonstrations;
  std::vector<int64_t> cells;
  for (const Puzzle& puzzle : puzzles) {
    demonstrations.push_back(std::ssize(puzzle.train));
    for (const auto* pairs : {&puzzle.train, &puzzle.test})
      for (const Pair& pair : *pairs) {
        cells.push_back(pair.input.extent.size());
        if (pair.output) cells.push_back(pair.output->extent.size());
      }
  }
  return counted("train pairs", counts.train) + counted("test inputs", counts.test) +
         spread("train/task", demonstrations) + (cells.empty() ? "" : spread("grid cells", cells));
}

}  // namespace driftless::task::arc
