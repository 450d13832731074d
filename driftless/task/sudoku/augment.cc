// SPDX-License-Identifier: Apache-2.0
#include "driftless/task/sudoku/augment.h"

#include <numeric>
#include <span>

#include "driftless/base/error.h"
#include "driftless/base/shuffle.h"

namespace driftless::task::sudoku {
namespace {

/// Shuffles the groups of `box` lines, then the lines of each group.
std::array<uint8_t, kMaxSide> random_lines(int64_t box, Rng& rng) {
  const auto width = static_cast<size_t>(box);
  std::array<uint8_t, kMaxSide> groups{};
  std::iota(groups.begin(), groups.end(), uint8_t{0});
  shuffle(std::span(groups).first(width), rng);
  std::array<uint8_t, kMaxSide> lines{};
  for (size_t group = 0; group < width; ++group) {
    const std::span inside = std::span(lines).subspan(group * width, width);
    std::iota(inside.begin(), inside.end(), static_cast<uint8_t>(groups[group] * box));
    shuffle(inside, rng);
  }
  return lines;
}

}  // namespace

Symmetry random_symmetry(int64_t box, Rng& rng) {
  DRIFTLESS_REQUIRE(box == 2 || box == 3, ErrorCode::InvalidArgument,
                    "sudoku symmetry: bad box side; got ", box, ", expected 2 or 3");
  Symmetry symmetry;
  std::iota(symmetry.digit_to.begin(), symmetry.digit_to.end(), uint8_t{0});
  shuffle(std::span(symmetry.digit_to).subspan(1, static_cast<size_t>(box * box)), rng);
  symmetry.axes = rng.below(2) == 1 ? Symmetry::Axes::Swapped : Symmetry::Axes::Kept;
  symmetry.row_from = random_lines(box, rng);
  symmetry.column_from = random_lines(box, rng);
  return symmetry;
}

Board apply(const Symmetry& symmetry, const Board& board) {
  Board result{.box = board.box};
  const int64_t side = board.side();
  const bool swapped = symmetry.axes == Symmetry::Axes::Swapped;
  const int64_t row_stride = swapped ? 1 : side;
  const int64_t column_stride = swapped ? side : 1;
  for (int64_t i = 0; i < side; ++i)
    for (int64_t j = 0; j < side; ++j) {
      const int64_t from = symmetry.row_from[static_cast<size_t>(i)] * row_stride +
                           symmetry.column_from[static_cast<size_t>(j)] * column_stride;
      result.at(i * side + j) = symmetry.digit_to[board.at(from)];
    }
  return result;
}

Puzzle apply(const Symmetry& symmetry, const Puzzle& puzzle) {
  return {.source = puzzle.source,
          .question = apply(symmetry, puzzle.question),
          .answer = apply(symmetry, puzzle.answer),
          .rating = puzzle.rating};
}

}  // namespace driftless::task::sudoku
