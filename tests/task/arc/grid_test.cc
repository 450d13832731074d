// SPDX-License-Identifier: Apache-2.0
#include "driftless/task/arc/grid.h"

#include <array>

#include <gtest/gtest.h>

#include "tests/task/arc/random_puzzle.h"
#include "tests/testing/expect_error.h"

namespace driftless::task::arc {
namespace {

using driftless::testing::expect_error;
using Tokens = std::vector<uint8_t>;

const Grid kGrid{.extent = {.rows = 2, .columns = 3}, .cells = {0, 1, 2, 9, 8, 7}};

TEST(ArcGrid, CanvasHasEndMarksBelowAndRight) {
  EXPECT_EQ(encode(kGrid, {.side = 4}), (Tokens{2, 3, 4, 1,    //
                                                11, 10, 9, 1,  //
                                                1, 1, 1, 0,    //
                                                0, 0, 0, 0}));
  EXPECT_EQ(encode(kGrid, {.side = 3}), (Tokens{2, 3, 4,    //
                                                11, 10, 9,  //
                                                1, 1, 1}));
  EXPECT_EQ(encode(kGrid, {.side = 4, .row = 2, .column = 1}), (Tokens{0, 0, 0, 0,  //
                                                                       0, 0, 0, 0,  //
                                                                       0, 2, 3, 4,  //
                                                                       0, 11, 10, 9}));
}

TEST(ArcGrid, CropUndoesEncodeOnEveryShape) {
  Rng rng(1);
  for (int64_t rows = 1; rows <= kMaxSide; ++rows)
    for (int64_t columns = 1; columns <= kMaxSide; ++columns) {
      const Grid grid = random_grid(Extent{.rows = rows, .columns = columns}, rng);
      ASSERT_EQ(crop(encode(grid, {})), grid);
    }
}

TEST(ArcGrid, CropTakesTheLargestCornerRectangle) {
  // Row 2 narrows the width to 1, so the first two rows win with 2 * 3 cells.
  const Grid wide = crop(Tokens{2, 3, 4, 1,  //
                                5, 6, 7, 8,  //
                                9, 1, 2, 2,  //
                                2, 2, 2, 2});
  EXPECT_EQ(wide.extent, (Extent{.rows = 2, .columns = 3}));
  EXPECT_EQ(wide.cells, (Tokens{0, 1, 2, 3, 4, 5}));
  // 1 x 2 and 2 x 1 have as many cells: the first stays.
  EXPECT_EQ(crop(Tokens{2, 3, 4, 1}).extent, (Extent{.rows = 1, .columns = 2}));
  EXPECT_EQ(crop(Tokens{1, 2, 2, 2}).extent, Extent{});
  EXPECT_EQ(crop(Tokens{12, 2, 2, 2}).extent, Extent{});
  EXPECT_EQ(crop(Tokens{}).extent, Extent{});
}

TEST(ArcGrid, RandomPlacesFitBothGridsAndReachEveryOffset) {
  Rng rng(2);
  const Pair pair{.input = kGrid,
                  .output = Grid{.extent = {.rows = 3, .columns = 1}, .cells = {1, 2, 3}}};
  std::array<int64_t, 9> seen{};
  for (int64_t i = 0; i < 500; ++i) {
    const Canvas canvas = random_place(pair, 5, rng);
    EXPECT_EQ(encode(pair.input, canvas).size(), 25u);
    EXPECT_EQ(encode(*pair.output, canvas).size(), 25u);
    ++seen.at(static_cast<size_t>(canvas.row * 3 + canvas.column));
  }
  for (const int64_t count : seen) EXPECT_GT(count, 0);
}

TEST(ArcGrid, WhatDoesNotFitIsAnError) {
  Rng rng(3);
  expect_error(ErrorCode::InvalidArgument, "got 2x3", [] { encode(kGrid, {.side = 2}); });
  expect_error(ErrorCode::InvalidArgument, "does not fit",
               [] { encode(kGrid, {.side = 4, .row = 3}); });
  expect_error(ErrorCode::InvalidArgument, "does not fit",
               [] { encode(kGrid, {.side = 4, .row = -1}); });
  expect_error(ErrorCode::InvalidArgument, "pair does not fit",
               [&] { random_place({.input = kGrid, .output = std::nullopt}, 2, rng); });
  expect_error(ErrorCode::InvalidArgument, "got 5 tokens", [] { crop(Tokens(5)); });
}

}  // namespace
}  // namespace driftless::task::arc
