// SPDX-License-Identifier: Apache-2.0
#include "driftless/task/maze/show.h"

#include <algorithm>
#include <array>
#include <vector>

#include "driftless/task/maze/path.h"
#include "driftless/task/summary.h"

namespace driftless::task::maze {
namespace {

/// By token: pad, wall, open, S, G, path.
constexpr std::array<int, 6> kColors = {16, 240, 234, 46, 196, 220};
constexpr int kRightPath = 40;
constexpr int kWrongPath = 208;

int color_of(const Picture& picture, size_t cell) {
  const uint8_t token = picture.now[cell];
  if (token >= kColors.size()) return kColors[0];
  if (token != kPath || picture.label.empty()) return kColors[token];
  return picture.label[cell] == kPath ? kRightPath : kWrongPath;
}

}  // namespace

int64_t path_cells(std::span<const uint8_t> answer) {
  return std::count(answer.begin(), answer.end(), kPath) + 2;
}

std::string draw(std::span<const uint8_t> tokens) {
  return draw_rows(to_text(kAlphabet, tokens), side_of(std::ssize(tokens)));
}

Extent drawn_extent(int64_t cells) {
  const int64_t side = side_of(cells);
  return {.rows = side, .columns = side};
}

std::string paint(const Picture& picture) {
  const int64_t side = side_of(std::ssize(picture.now));
  Pixels pixels{.extent = {.rows = side, .columns = side}, .colors = {}};
  for (size_t cell = 0; cell < picture.now.size(); ++cell)
    pixels.colors.push_back(color_of(picture, cell));
  std::string drawing;
  for (const std::string& line : half_blocks(pixels)) drawing += line + "\n";
  return drawing;
}

Extent painted_extent(int64_t cells) {
  const int64_t side = side_of(cells);
  return {.rows = (side + 1) / 2, .columns = side};
}

std::string audit(std::span<const Example> examples, const std::string& where) {
  require_answers(examples, where, [](const Example& example) {
    const auto labeled = label(board_from_tokens(example.input));
    return labeled && check(*labeled, example.label) != Outcome::Wrong;
  });
  int64_t other_path = 0;
  for (const Example& example : examples) {
    const auto labeled = label(board_from_tokens(example.input));
    if (labeled->answer.cells != example.label) ++other_path;
  }
  return told("labels that the labelling rule does not give", other_path);
}

std::string stats(std::span<const Example> examples) {
  std::vector<int64_t> walls;
  std::vector<int64_t> paths;
  for (const Example& example : examples) {
    walls.push_back(std::count(example.input.begin(), example.input.end(), kWall));
    paths.push_back(path_cells(example.label));
  }
  return spread("walls", walls) + spread("path cells", paths);
}

}  // namespace driftless::task::maze
