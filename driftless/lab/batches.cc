// SPDX-License-Identifier: Apache-2.0
#include "driftless/lab/batches.h"

#include <algorithm>
#include <set>
#include <utility>

#include "driftless/base/error.h"
#include "driftless/task/sudoku/augment.h"
#include "driftless/task/sudoku/canonical.h"

namespace driftless::lab {

using task::sudoku::Board;
using task::sudoku::Puzzle;

BoardPool::BoardPool(std::vector<PoolPart> parts) : parts_(std::move(parts)) {
  DRIFTLESS_REQUIRE(!parts_.empty(), ErrorCode::BadConfig, "pool: got no files, expected one");
  for (const PoolPart& part : parts_) {
    DRIFTLESS_REQUIRE(!part.puzzles.empty(), ErrorCode::BadConfig,
                      "pool: a file gave no boards; lower its min_rating");
    DRIFTLESS_REQUIRE(part.share > 0, ErrorCode::BadConfig, "pool: share; got ", part.share,
                      ", expected a positive number");
    total_share_ += part.share;
    if (cells_ == 0) cells_ = part.puzzles.front().question.size();
    for (const Puzzle& puzzle : part.puzzles)
      DRIFTLESS_REQUIRE(puzzle.question.size() == cells_, ErrorCode::BadConfig,
                        "pool: got boards of ", puzzle.question.size(), " and of ", cells_,
                        " cells, expected one size");
  }
}

const Puzzle& BoardPool::draw(Rng& rng) const {
  double point = rng.uniform() * total_share_;
  size_t part = 0;
  while (part + 1 < parts_.size() && point >= parts_[part].share) point -= parts_[part++].share;
  const std::vector<Puzzle>& puzzles = parts_[part].puzzles;
  return puzzles[static_cast<size_t>(rng.below(puzzles.size()))];
}

int64_t count_equivalent(std::span<const Puzzle> pool, std::span<const Puzzle> held_out) {
  std::set<Board> forms;
  for (const Puzzle& puzzle : held_out)
    forms.insert(task::sudoku::canonical_form(puzzle.question, puzzle.answer));
  return std::count_if(pool.begin(), pool.end(), [&](const Puzzle& puzzle) {
    return forms.contains(task::sudoku::canonical_form(puzzle.question, puzzle.answer));
  });
}

namespace {
void append_tokens(const Board& board, std::vector<uint8_t>& tokens) {
  for (int64_t cell = 0; cell < board.size(); ++cell)
    tokens.push_back(static_cast<uint8_t>(board.at(cell) + 1));
}
}  // namespace

Batch make_batch(const BoardPool& pool, const BatchOptions& options, int64_t step) {
  Rng rng(Rng(options.seed).next() + static_cast<uint64_t>(step));
  const auto values = static_cast<size_t>(options.boards * pool.cells());
  Batch batch;
  batch.inputs.reserve(values);
  batch.labels.reserve(values);
  for (int64_t i = 0; i < options.boards; ++i) {
    const Puzzle& puzzle = pool.draw(rng);
    const auto symmetry = task::sudoku::random_symmetry(puzzle.question.box, rng);
    append_tokens(apply(symmetry, puzzle.question), batch.inputs);
    append_tokens(apply(symmetry, puzzle.answer), batch.labels);
    const bool explores = options.halt_max_steps > 1 && rng.uniform() < options.halt_exploration;
    const uint64_t choices =
        static_cast<uint64_t>(std::max<int64_t>(options.halt_max_steps - 1, 1));
    batch.min_steps.push_back(explores ? static_cast<uint8_t>(2 + rng.below(choices)) : uint8_t{0});
  }
  return batch;
}

}  // namespace driftless::lab
