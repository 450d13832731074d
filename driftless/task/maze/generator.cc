// SPDX-License-Identifier: Apache-2.0
#include "driftless/task/maze/generator.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "driftless/base/error.h"
#include "driftless/task/maze/path.h"

namespace driftless::task::maze {
namespace {

constexpr int64_t kMaxSide = 1000;

Board all_wall(int64_t side) {
  return {.side = side, .cells = std::vector<uint8_t>(static_cast<size_t>(side * side), kWall)};
}

Board scattered(int64_t side, Rng& rng) {
  Board board = all_wall(side);
  const double wall_share = 0.30 + 0.15 * rng.uniform();
  for (uint8_t& cell : board.cells)
    if (rng.uniform() >= wall_share) cell = kOpen;
  return board;
}

/// Depth-first carving: from the newest room, open the way to a random untouched room next to it;
/// step back where there is none.
Board perfect(int64_t side, Rng& rng) {
  Board board = all_wall(side);
  std::vector<int64_t> trail = {0};
  board.at(0) = kOpen;
  while (!trail.empty()) {
    const int64_t row = trail.back() / side;
    const int64_t column = trail.back() % side;
    std::array<int64_t, 4> steps{};  // half the way to a room that is still wall
    size_t count = 0;
    const auto offer = [&](bool inside, int64_t step) {
      if (inside && board.at(trail.back() + 2 * step) == kWall) steps[count++] = step;
    };
    offer(row + 2 < side, side);
    offer(row >= 2, -side);
    offer(column + 2 < side, 1);
    offer(column >= 2, -1);
    if (count == 0) {
      trail.pop_back();
      continue;
    }
    const int64_t step = steps[static_cast<size_t>(rng.below(count))];
    board.at(trail.back() + step) = kOpen;
    board.at(trail.back() + 2 * step) = kOpen;
    trail.push_back(trail.back() + 2 * step);
  }
  return board;
}

std::optional<Puzzle> place_ends(Board board, const GeneratorOptions& options, Rng& rng) {
  std::vector<int64_t> open;
  for (int64_t cell = 0; cell < board.size(); ++cell)
    if (board.at(cell) == kOpen) open.push_back(cell);
  if (open.empty()) return std::nullopt;
  // The cell farthest from a random one lies at the end of long paths, which random pairs rarely
  // have.
  const Reach sweep = reach_from(board, open[static_cast<size_t>(rng.below(open.size()))]);
  const int64_t start =
      std::max_element(sweep.distance.begin(), sweep.distance.end()) - sweep.distance.begin();
  const Reach reach = reach_from(board, start);
  std::vector<int64_t> goals;
  for (const int64_t cell : open) {
    const int64_t path_cells = reach.distance[static_cast<size_t>(cell)] + 1;
    if (cell != start && path_cells > 0 && path_cells >= options.min_path_cells &&
        path_cells <= options.max_path_cells)
      goals.push_back(cell);
  }
  if (goals.empty()) return std::nullopt;
  board.at(start) = kStart;
  board.at(goals[static_cast<size_t>(rng.below(goals.size()))]) = kGoal;
  return label(board);
}

}  // namespace

std::optional<Puzzle> try_generate(const GeneratorOptions& options, Rng& rng) {
  DRIFTLESS_REQUIRE(options.side >= 2 && options.side <= kMaxSide, ErrorCode::InvalidArgument,
                    "maze generator: bad side; got ", options.side, ", expected 2 to ", kMaxSide);
  DRIFTLESS_REQUIRE(options.min_path_cells <= options.max_path_cells, ErrorCode::InvalidArgument,
                    "maze generator: empty range of path lengths; got ", options.min_path_cells,
                    " to ", options.max_path_cells);
  DRIFTLESS_REQUIRE(options.min_path_cells <= options.side * options.side,
                    ErrorCode::InvalidArgument, "maze generator: path too long; got ",
                    options.min_path_cells, " cells, expected at most ",
                    options.side * options.side, " for a side of ", options.side,
                    "; hint: ask for shorter paths");
  Board board =
      options.kind == Kind::Perfect ? perfect(options.side, rng) : scattered(options.side, rng);
  return place_ends(std::move(board), options, rng);
}

Puzzle generate(const GeneratorOptions& options, Rng& rng) {
  for (int64_t attempt = 0; attempt < options.max_attempts; ++attempt)
    if (const auto puzzle = try_generate(options, rng)) return *puzzle;
  fail(ErrorCode::InvalidArgument, "maze generator: no board with a path of ",
       options.min_path_cells, " to ", options.max_path_cells, " cells among ",
       options.max_attempts, "; hint: ask for shorter paths or a larger side");
}

}  // namespace driftless::task::maze
