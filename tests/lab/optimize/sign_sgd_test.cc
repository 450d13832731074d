// SPDX-License-Identifier: Apache-2.0
#include "driftless/lab/optimize/sign_sgd.h"

#include <gtest/gtest.h>

#include "tests/lab/tensors.h"
#include "tests/testing/expect_error.h"

namespace driftless::lab {
namespace {

using driftless::testing::expect_error;
using testing::flag;

at::Tensor rate(float value) { return at::full({}, value, at::kFloat); }

TEST(SignSgd, HandComputedStep) {
  // Rows 0 and 2 are used, row 2 twice; row 1 is not.
  at::Tensor table = at::tensor({1.0f, -1.0f, 5.0f, 5.0f, 2.0f, 4.0f}).view({3, 2});
  const at::Tensor ids = at::tensor({2, 0, 2}, at::kLong);
  const at::Tensor grads = at::tensor({3.0f, 1.0f, -7.0f, 0.0f, -1.0f, -1.5f}).view({3, 2});
  sign_sgd_step(table, ids, grads, rate(0.25f), 0.5, flag(false));
  // p (1 - 0.25 * 0.5) - 0.25 sign(g), with g = (-7, 0) for row 0 and (3 - 1, 1 - 1.5) for row 2.
  // All numbers are multiples of 1/32, so float32 has no rounding.
  const at::Tensor want =
      at::tensor({0.875f + 0.25f, -0.875f, 5.0f, 5.0f, 1.75f - 0.25f, 3.5f + 0.25f}).view({3, 2});
  EXPECT_TRUE(at::equal(table, want)) << table;
  // Signs that cancel leave only the decay.
  sign_sgd_step(table, at::tensor({1, 1}, at::kLong),
                at::tensor({1.0f, 2.0f, -1.0f, -2.0f}).view({2, 2}), rate(0.5f), 0.5, flag(false));
  EXPECT_TRUE(at::equal(table[1], at::tensor({3.75f, 3.75f}))) << table;
}

TEST(SignSgd, SkipLeavesEverything) {
  at::Tensor table = at::ones({2, 2});
  sign_sgd_step(table, at::tensor({1}, at::kLong), at::ones({1, 2}), rate(0.25f), 0.5, flag(true));
  EXPECT_TRUE(at::equal(table, at::ones({2, 2})));
}

TEST(SignSgd, WrongShapes) {
  at::Tensor table = at::ones({2, 2});
  expect_error(ErrorCode::InvalidArgument, "gradients", [&] {
    sign_sgd_step(table, at::tensor({1}, at::kLong), at::ones({2, 2}), rate(0.1f), 0, flag(false));
  });
}

}  // namespace
}  // namespace driftless::lab
