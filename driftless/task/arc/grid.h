// SPDX-License-Identifier: Apache-2.0
// ARC grids and tasks, and the canvas of tokens a model sees: 0 pad, 1 end mark, 2..11 the colors
// 0..9.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "driftless/base/rng.h"
#include "driftless/task/dihedral.h"

namespace driftless::task::arc {

inline constexpr int64_t kMaxSide = 30;
inline constexpr int64_t kColorCount = 10;
inline constexpr uint8_t kEndToken = 1;
inline constexpr uint8_t kFirstColorToken = 2;

/// Colors 0..9 row by row. Only a cropped prediction may be empty (0 x 0).
struct Grid {
  Extent extent{};
  std::vector<uint8_t> cells{};

  [[nodiscard]] uint8_t at(int64_t row, int64_t column) const {
    return cells[static_cast<size_t>(row * extent.columns + column)];
  }
  friend bool operator==(const Grid&, const Grid&) = default;
  /// Any strict order, for maps and sets.
  friend bool operator<(const Grid& a, const Grid& b);
};

/// The output of a test pair may be unknown.
struct Pair {
  Grid input;
  std::optional<Grid> output;

  friend bool operator==(const Pair&, const Pair&) = default;
};

struct Puzzle {
  std::string name;
  std::vector<Pair> train;
  std::vector<Pair> test;

  friend bool operator==(const Puzzle&, const Puzzle&) = default;
};

/// A square canvas and the place of a grid's top left corner on it.
struct Canvas {
  int64_t side = kMaxSide;
  int64_t row = 0;
  int64_t column = 0;
};

/// side * side tokens: the grid, and end marks along its lower and right edge (without the corner)
/// where they fall on the canvas. Throws InvalidArgument when the grid does not fit.
std::vector<uint8_t> encode(const Grid& grid, const Canvas& canvas);

/// A place drawn uniformly from those where all of the pair fits. Throws InvalidArgument when none
/// does.
Canvas random_place(const Pair& pair, int64_t side, Rng& rng);

/// The grid in the top left corner of a canvas: of all rectangles that start there and hold colors
/// only, the one with the most cells (the one with fewer rows on ties). Any tokens are accepted;
/// undoes encode() at row 0, column 0. Throws InvalidArgument unless the number of tokens is a
/// square.
Grid crop(std::span<const uint8_t> tokens);

}  // namespace driftless::task::arc
