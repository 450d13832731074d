// SPDX-License-Identifier: Apache-2.0
#include "driftless/task/maze/path.h"

#include <algorithm>
#include <array>

#include "driftless/base/error.h"

namespace driftless::task::maze {
namespace {

int64_t find(const Board& board, uint8_t cell) {
  return std::find(board.cells.begin(), board.cells.end(), cell) - board.cells.begin();
}

/// The cells beside one cell, in the order of the rule; -1 past the edge.
std::array<int64_t, 4> neighbors(int64_t side, int64_t cell) {
  const int64_t row = cell / side;
  const int64_t column = cell % side;
  return {row + 1 < side ? cell + side : -1, column > 0 ? cell - 1 : -1,
          column + 1 < side ? cell + 1 : -1, row > 0 ? cell - side : -1};
}

/// Whether there is a cell at every place and each is beside the one before.
bool is_chain(int64_t side, std::span<const int64_t> cells) {
  for (size_t i = 1; i < cells.size(); ++i) {
    const auto beside = neighbors(side, cells[i - 1]);
    if (cells[i] < 0 || std::find(beside.begin(), beside.end(), cells[i]) == beside.end())
      return false;
  }
  return true;
}

}  // namespace

Reach reach_from(const Board& board, int64_t origin) {
  const auto size = static_cast<size_t>(board.size());
  Reach reach{.distance = std::vector<int64_t>(size, -1), .parent = std::vector<int64_t>(size, -1)};
  std::vector<int64_t> queue = {origin};
  queue.reserve(size);
  reach.distance[static_cast<size_t>(origin)] = 0;
  for (size_t head = 0; head < queue.size(); ++head) {
    const int64_t cell = queue[head];
    for (const int64_t next : neighbors(board.side, cell)) {
      if (next < 0 || board.at(next) == kWall) continue;
      int64_t& distance = reach.distance[static_cast<size_t>(next)];
      if (distance >= 0) continue;
      distance = reach.distance[static_cast<size_t>(cell)] + 1;
      reach.parent[static_cast<size_t>(next)] = cell;
      queue.push_back(next);
    }
  }
  return reach;
}

std::optional<Puzzle> label(const Board& question) {
  require_question(question);
  const int64_t start = find(question, kStart);
  const int64_t goal = find(question, kGoal);
  const Reach reach = reach_from(question, start);
  const int64_t steps = reach.distance[static_cast<size_t>(goal)];
  if (steps < 0) return std::nullopt;
  Puzzle puzzle{.question = question, .answer = question, .path_cells = steps + 1};
  for (int64_t cell = reach.parent[static_cast<size_t>(goal)]; cell != start;
       cell = reach.parent[static_cast<size_t>(cell)])
    puzzle.answer.at(cell) = kPath;
  return puzzle;
}

Outcome check(const Puzzle& puzzle, std::span<const uint8_t> prediction) {
  const Board& question = puzzle.question;
  require_question(question);
  DRIFTLESS_REQUIRE(
      prediction.size() == question.cells.size() && prediction.size() == puzzle.answer.cells.size(),
      ErrorCode::InvalidArgument, "maze: sizes differ; got a question of ", question.cells.size(),
      ", an answer of ", puzzle.answer.cells.size(), " and a prediction of ", prediction.size(),
      " cells");
  if (std::equal(prediction.begin(), prediction.end(), puzzle.answer.cells.begin()))
    return Outcome::Exact;
  const int64_t goal = find(question, kGoal);
  const Reach reach = reach_from(question, find(question, kStart));
  const int64_t steps = reach.distance[static_cast<size_t>(goal)];
  if (steps < 0) return Outcome::Wrong;
  // A shortest path has one cell at each distance, each beside the one before.
  std::vector<int64_t> at_distance(static_cast<size_t>(steps) + 1, -1);
  at_distance.front() = find(question, kStart);
  at_distance.back() = goal;
  for (int64_t cell = 0; cell < question.size(); ++cell) {
    const uint8_t token = prediction[static_cast<size_t>(cell)];
    if (token == question.at(cell)) continue;
    if (token != kPath || question.at(cell) != kOpen) return Outcome::Wrong;
    const int64_t distance = reach.distance[static_cast<size_t>(cell)];
    if (distance < 0 || distance > steps) return Outcome::Wrong;
    int64_t& slot = at_distance[static_cast<size_t>(distance)];
    if (slot >= 0) return Outcome::Wrong;
    slot = cell;
  }
  return is_chain(question.side, at_distance) ? Outcome::Accepted : Outcome::Wrong;
}

}  // namespace driftless::task::maze
