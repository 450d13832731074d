// SPDX-License-Identifier: Apache-2.0
#include "driftless/task/arc/grid.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "driftless/base/error.h"

namespace driftless::task::arc {

bool operator<(const Grid& a, const Grid& b) {
  return std::tie(a.extent.rows, a.extent.columns, a.cells) <
         std::tie(b.extent.rows, b.extent.columns, b.cells);
}

std::vector<uint8_t> encode(const Grid& grid, const Canvas& canvas) {
  const auto [rows, columns] = grid.extent;
  DRIFTLESS_REQUIRE(canvas.row >= 0 && canvas.column >= 0 && canvas.row + rows <= canvas.side &&
                        canvas.column + columns <= canvas.side,
                    ErrorCode::InvalidArgument, "arc: the grid does not fit the canvas; got ", rows,
                    "x", columns, " at row ", canvas.row, ", column ", canvas.column,
                    ", expected to fit ", canvas.side, "x", canvas.side);
  std::vector<uint8_t> tokens(static_cast<size_t>(canvas.side * canvas.side), 0);
  const auto token = [&](int64_t row, int64_t column) -> uint8_t& {
    return tokens[static_cast<size_t>((canvas.row + row) * canvas.side + canvas.column + column)];
  };
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t column = 0; column < columns; ++column)
      token(row, column) = static_cast<uint8_t>(grid.at(row, column) + kFirstColorToken);
  if (canvas.row + rows < canvas.side)
    for (int64_t column = 0; column < columns; ++column) token(rows, column) = kEndToken;
  if (canvas.column + columns < canvas.side)
    for (int64_t row = 0; row < rows; ++row) token(row, columns) = kEndToken;
  return tokens;
}

Canvas random_place(const Pair& pair, int64_t side, Rng& rng) {
  const Extent output = pair.output ? pair.output->extent : Extent{};
  const int64_t rows = std::max(pair.input.extent.rows, output.rows);
  const int64_t columns = std::max(pair.input.extent.columns, output.columns);
  DRIFTLESS_REQUIRE(rows <= side && columns <= side, ErrorCode::InvalidArgument,
                    "arc: the pair does not fit the canvas; got ", rows, "x", columns,
                    ", expected at most ", side, "x", side);
  const auto row = static_cast<int64_t>(rng.below(static_cast<uint64_t>(side - rows + 1)));
  const auto column = static_cast<int64_t>(rng.below(static_cast<uint64_t>(side - columns + 1)));
  return {.side = side, .row = row, .column = column};
}

Grid crop(std::span<const uint8_t> tokens) {
  const int64_t side = std::llround(std::sqrt(static_cast<double>(tokens.size())));
  DRIFTLESS_REQUIRE(static_cast<size_t>(side * side) == tokens.size(), ErrorCode::InvalidArgument,
                    "arc: not a square canvas; got ", tokens.size(), " tokens");
  const auto is_color = [&](int64_t row, int64_t column) {
    const uint8_t token = tokens[static_cast<size_t>(row * side + column)];
    return token >= kFirstColorToken && token < kFirstColorToken + kColorCount;
  };
  Extent best{};
  int64_t width = side;
  for (int64_t row = 0; row < side && width > 0; ++row) {
    int64_t filled = 0;
    while (filled < width && is_color(row, filled)) ++filled;
    width = filled;
    const Extent extent{.rows = row + 1, .columns = width};
    if (extent.size() > best.size()) best = extent;
  }
  Grid grid{.extent = best};
  for (int64_t row = 0; row < best.rows; ++row)
    for (int64_t column = 0; column < best.columns; ++column)
      grid.cells.push_back(static_cast<uint8_t>(tokens[static_cast<size_t>(row * side + column)] -
                                                kFirstColorToken));
  return grid;
}

}  // namespace driftless::task::arc
