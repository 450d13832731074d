// SPDX-License-Identifier: Apache-2.0
#include "driftless/lab/data/batches.h"

#include <algorithm>
#include <utility>

#include "driftless/base/error.h"

namespace driftless::lab {

using task::Example;

BoardPool::BoardPool(const task::Task& task, std::vector<PoolPart> parts, Augment augment)
    : task_(task), parts_(std::move(parts)), augment_(augment) {
  DRIFTLESS_REQUIRE(!parts_.empty(), ErrorCode::BadConfig, "pool: got no files, expected one");
  for (const PoolPart& part : parts_) {
    DRIFTLESS_REQUIRE(!part.boards.empty(), ErrorCode::BadConfig,
                      "pool: a file gave no boards; lower its min_rating");
    DRIFTLESS_REQUIRE(part.share > 0, ErrorCode::BadConfig, "pool: share; got ", part.share,
                      ", expected a positive number");
    total_share_ += part.share;
    if (cells_ == 0) cells_ = std::ssize(part.boards.front().input);
    for (const Example& board : part.boards)
      DRIFTLESS_REQUIRE(std::ssize(board.input) == cells_, ErrorCode::BadConfig,
                        "pool: got boards of ", board.input.size(), " and of ", cells_,
                        " cells, expected one size");
  }
}

Example BoardPool::draw(Rng& rng) const {
  double point = rng.uniform() * total_share_;
  size_t part = 0;
  while (part + 1 < parts_.size() && point >= parts_[part].share) point -= parts_[part++].share;
  const std::vector<Example>& boards = parts_[part].boards;
  const Example& board = boards[static_cast<size_t>(rng.below(boards.size()))];
  return augment_ == Augment::On ? random_image(task_, board, rng) : board;
}

Batch make_batch(const BoardPool& pool, const BatchOptions& options, int64_t step) {
  Rng rng(Rng(options.seed).next() + static_cast<uint64_t>(step));
  const auto values = static_cast<size_t>(options.boards * pool.cells());
  Batch batch;
  batch.inputs.reserve(values);
  batch.labels.reserve(values);
  batch.min_steps.reserve(static_cast<size_t>(options.boards));
  batch.puzzles.reserve(static_cast<size_t>(options.boards));
  for (int64_t i = 0; i < options.boards; ++i) {
    const Example board = pool.draw(rng);
    batch.inputs.insert(batch.inputs.end(), board.input.begin(), board.input.end());
    batch.labels.insert(batch.labels.end(), board.label.begin(), board.label.end());
    batch.puzzles.push_back(static_cast<int32_t>(board.puzzle));
    const bool explores = options.halt_max_steps > 1 && rng.uniform() < options.halt_exploration;
    const uint64_t choices =
        static_cast<uint64_t>(std::max<int64_t>(options.halt_max_steps - 1, 1));
    batch.min_steps.push_back(explores ? static_cast<uint8_t>(2 + rng.below(choices)) : uint8_t{0});
  }
  return batch;
}

}  // namespace driftless::lab
