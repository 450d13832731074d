// SPDX-License-Identifier: Apache-2.0
#include "driftless/lab/optimize/optimizer.h"

#include <cmath>

#include <gtest/gtest.h>

#include "tests/lab/tensors.h"
#include "tests/testing/expect_error.h"

namespace driftless::lab {
namespace {

using driftless::testing::expect_error;
using testing::flag;

at::Tensor scalars_of(const OptimizerOptions& options, double lr, int64_t t) {
  const cuda::StepScalars s = step_scalars(options, lr, t);
  return at::tensor({s.lr, s.inverse_bias1, s.inverse_root_bias2});
}

TEST(AdamATan2, HandComputedSteps) {
  OptimizerOptions options;
  options.weight_decay = 0.5;
  OptimizerState state = fresh_optimizer_state(at::tensor({2.0f, -1.0f, 0.0f}), at::kFloat);
  state.grads.copy_(at::tensor({3.0f, -0.001f, 0.0f}));
  optimizer_step(state, options, scalars_of(options, 0.1, 1), flag(false));
  // Step 1: m = 0.1 g and sqrt(v^) = |g|, so the step is lr / 0.1 * atan(0.1), whatever |g|.
  const double step1 = 0.1 / 0.1 * std::atan(0.1);
  EXPECT_NEAR(state.values[0].item<double>(), 2.0 * 0.95 - step1, 1e-6);
  EXPECT_NEAR(state.values[1].item<double>(), -0.95 + step1, 1e-6);
  EXPECT_EQ(state.values[2].item<double>(), 0.0);  // atan2(0, 0) = 0
  EXPECT_NEAR(state.ema[0].item<double>(), 0.001 * (1.9 - step1) + 0.999 * 2.0, 1e-6);

  optimizer_step(state, options, scalars_of(options, 0.1, 2), flag(false));
  // Step 2: m = 0.19 g, v^ = g^2 again, 1 - 0.9^2 = 0.19.
  const double step2 = 0.1 / 0.19 * std::atan(0.19);
  EXPECT_NEAR(state.values[0].item<double>(), (1.9 - step1) * 0.95 - step2, 1e-6);
}

TEST(AdamATan2, SkipLeavesEverything) {
  const OptimizerOptions options;
  OptimizerState state = fresh_optimizer_state(at::ones({4}), at::kBFloat16);
  state.grads.fill_(1);
  optimizer_step(state, options, scalars_of(options, 0.1, 1), flag(true));
  EXPECT_TRUE(at::equal(state.values, at::ones({4})));
  EXPECT_TRUE(at::equal(state.moment1, at::zeros({4})));
}

TEST(AdamATan2, WrongInput) {
  const OptimizerOptions options;
  expect_error(ErrorCode::InvalidArgument, "step 0", [&] { step_scalars(options, 0.1, 0); });
  OptimizerState state = fresh_optimizer_state(at::ones({4}), at::kFloat);
  expect_error(ErrorCode::InvalidArgument, "expected 3",
               [&] { optimizer_step(state, options, at::zeros({2}), flag(false)); });
}

TEST(LearningRate, WarmsUpStaysAndDecays) {
  const LearningRate schedule{1.0, 10, 100, 20, 0.1};
  EXPECT_DOUBLE_EQ(rate_at(schedule, 1), 0.1);
  EXPECT_DOUBLE_EQ(rate_at(schedule, 10), 1.0);
  EXPECT_DOUBLE_EQ(rate_at(schedule, 80), 1.0);
  EXPECT_DOUBLE_EQ(rate_at(schedule, 90), 0.55);
  EXPECT_DOUBLE_EQ(rate_at(schedule, 100), 0.1);
  EXPECT_DOUBLE_EQ(rate_at(schedule, 150), 0.1);
  expect_error(ErrorCode::InvalidArgument, "step 0", [&] { rate_at(schedule, 0); });
}

}  // namespace
}  // namespace driftless::lab
