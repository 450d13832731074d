// SPDX-License-Identifier: Apache-2.0
#include "driftless/lab/train/evaluate.h"

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
  const at::Tensor flat = to_flat(ParameterLayout(config), weights, "test");
  const RecursiveNet net(config, {flat, flat, {}}, {weights.at("H_init"), weights.at("L_init")});
  const auto boards = testing::tiny_boards(7, 4);
  EvaluateOptions options;
  options.steps = 2;
  options.batch = 3;
  options.chunk = 2;
  const task::Score score = evaluate(net, boards, options);
  EXPECT_EQ(score.exact.n, 7);
  EXPECT_EQ(score.cells.n, 7);
  EXPECT_LE(score.exact.value(), score.cells.mean());
  options.batch = 7;
  EXPECT_EQ(evaluate(net, boards, options).cells.mean(), score.cells.mean());
  auto mixed = testing::tiny_boards(2, 4);
  mixed[1].input.resize(9);
  expect_error(ErrorCode::InvalidArgument, "one size", [&] { evaluate(net, mixed, options); });
  expect_error(ErrorCode::InvalidArgument, "0 boards", [&] { evaluate(net, {}, options); });
}

}  // namespace
}  // namespace driftless::lab
