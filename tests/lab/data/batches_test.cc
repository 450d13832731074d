// SPDX-License-Identifier: Apache-2.0
#include "driftless/lab/data/batches.h"

#include <algorithm>
#include <span>

#include <gtest/gtest.h>

#include "driftless/task/sudoku/board.h"

#include "tests/lab/tiny_run.h"
#include "tests/testing/expect_error.h"

namespace driftless::lab {
namespace {

using driftless::testing::expect_error;

TEST(Batches, DependOnSeedAndStepAlone) {
  const BoardPool pool = testing::tiny_pool();
  const BatchOptions options{7, 32, 16, 0.1};
  const Batch first = make_batch(pool, options, 4);
  EXPECT_EQ(first.inputs, make_batch(pool, options, 4).inputs);
  EXPECT_NE(first.inputs, make_batch(pool, options, 5).inputs);
  EXPECT_NE(first.inputs, make_batch(pool, {8, 32, 16, 0.1}, 4).inputs);
}

TEST(Batches, AugmentedLabelsAnswerTheirInputs) {
  const Batch batch = make_batch(testing::tiny_pool(), {7, 50, 16, 0.1}, 1);
  ASSERT_EQ(batch.inputs.size(), 50u * 16);
  for (size_t i = 0; i < 50; ++i) {
    const auto question =
        task::sudoku::board_from_tokens(std::span(batch.inputs).subspan(16 * i, 16));
    const auto answer =
        task::sudoku::board_from_tokens(std::span(batch.labels).subspan(16 * i, 16));
    EXPECT_TRUE(task::sudoku::is_answer(question, answer)) << i;
  }
}

TEST(Batches, ExplorationDrawsTwoToTheLimit) {
  const Batch batch = make_batch(testing::tiny_pool(), {7, 4000, 5, 0.25}, 1);
  const auto exploring = std::count_if(batch.min_steps.begin(), batch.min_steps.end(),
                                       [](uint8_t steps) { return steps > 0; });
  // Binomial(4000, 1/4): five standard deviations are 5 * 27.4.
  EXPECT_NEAR(static_cast<double>(exploring), 1000, 137);
  for (const uint8_t steps : batch.min_steps) EXPECT_TRUE(steps == 0 || (steps >= 2 && steps <= 5));
}

TEST(BoardPool, DrawsByShare) {
  std::vector<PoolPart> parts = {{testing::tiny_boards(3, 1), 3.0},
                                 {testing::tiny_boards(50, 2), 1.0}};
  for (auto& board : parts[0].boards) board.name = "often";
  const BoardPool pool(testing::sudoku(), parts);
  Rng rng(1);
  int64_t often = 0;
  for (int64_t i = 0; i < 4000; ++i) often += pool.draw(rng).name == "often" ? 1 : 0;
  EXPECT_NEAR(static_cast<double>(often), 3000, 137);  // as above
}

TEST(BoardPool, WithoutAugmentationDrawsItsBoards) {
  const auto boards = testing::tiny_boards(1, 1);
  const BoardPool plain(testing::sudoku(), {{boards, 1.0}}, Augment::Off);
  Rng rng(1);
  EXPECT_EQ(plain.draw(rng).input, boards[0].input);
  const BoardPool augmented(testing::sudoku(), {{boards, 1.0}});
  EXPECT_NE(augmented.draw(rng).input, boards[0].input);
}

TEST(BoardPool, WrongInput) {
  const task::Task& task = testing::sudoku();
  expect_error(ErrorCode::BadConfig, "no files", [&] { BoardPool pool(task, {}); });
  expect_error(ErrorCode::BadConfig, "no boards", [&] { BoardPool pool(task, {{{}, 1.0}}); });
  expect_error(ErrorCode::BadConfig, "share", [&] {
    BoardPool pool(task, {{testing::tiny_boards(1, 1), 0.0}});
  });
  auto mixed = testing::tiny_boards(2, 1);
  mixed[1].input.resize(9);
  expect_error(ErrorCode::BadConfig, "9 and of 16", [&] { BoardPool pool(task, {{mixed, 1.0}}); });
}

}  // namespace
}  // namespace driftless::lab
