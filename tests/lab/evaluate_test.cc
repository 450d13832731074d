// SPDX-License-Identifier: Apache-2.0
#include "driftless/lab/evaluate.h"

#include <gtest/gtest.h>

#include "tests/lab/tiny_run.h"
#include "tests/testing/expect_error.h"

namespace driftless::lab {
namespace {

using driftless::testing::expect_error;

TEST(Evaluate, CountsBoardsAndCells) {
  const model::ModelConfig config = testing::tiny_recipe().model;
  Rng rng(11);
  const NamedTensors weights = initial_weights(config, rng);
  const at::Tensor flat = to_flat(Layout(config), weights, "test");
  const RecursiveNet net(config, {flat, flat, {}}, {weights.at("H_init"), weights.at("L_init")});
  const auto boards = testing::tiny_boards(7, 4);
  EvaluateOptions options;
  options.steps = 2;
  options.batch = 3;
  options.chunk = 2;
  const Score score = evaluate(net, boards, options);
  EXPECT_EQ(score.boards, 7);
  EXPECT_LE(score.exact * 16, score.right_cells);
  EXPECT_LE(score.right_cells, 7 * 16);
  options.batch = 7;
  EXPECT_EQ(evaluate(net, boards, options).right_cells, score.right_cells);
  expect_error(ErrorCode::InvalidArgument, "0 boards", [&] { evaluate(net, {}, options); });
}

TEST(Evaluate, WilsonIntervalOfKnownCases) {
  // 50 of 100: 0.5 -+ 1.96 * sqrt(0.25 / 100 + 1.96^2 / 40000) / (1 + 1.96^2 / 100)
  EXPECT_NEAR(wilson_interval(50, 100).low, 0.40383, 1e-5);
  EXPECT_NEAR(wilson_interval(50, 100).high, 0.59617, 1e-5);
  EXPECT_NEAR(wilson_interval(0, 10).low, 0.0, 1e-12);
  expect_error(ErrorCode::InvalidArgument, "5 of 4", [] { wilson_interval(5, 4); });
}

}  // namespace
}  // namespace driftless::lab
