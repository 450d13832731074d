// SPDX-License-Identifier: Apache-2.0
#include "driftless/lab/train/health.h"

#include <limits>

#include <gtest/gtest.h>

namespace driftless::lab {
namespace {

std::array<at::Tensor, kWatched.size()> healthy() {
  std::array<at::Tensor, kWatched.size()> tensors;
  tensors.fill(at::ones({3}));
  return tensors;
}
at::Tensor number(int64_t step) { return at::full({}, step, at::kLong); }

TEST(Health, NamesTheFirstStepAndTensor) {
  Ranks alone;
  Health health(at::kCPU);
  health.watch(number(4), healthy(), alone);
  EXPECT_EQ(health.describe(), "");
  EXPECT_FALSE(health.is_bad().item<bool>());
  auto tensors = healthy();
  tensors[3] = at::full({3}, std::numeric_limits<float>::infinity());
  tensors[7] = at::full({3}, std::numeric_limits<float>::quiet_NaN());
  health.watch(number(5), tensors, alone);
  tensors[1] = tensors[7];
  health.watch(number(6), tensors, alone);
  EXPECT_TRUE(health.is_bad().item<bool>());
  EXPECT_EQ(health.describe(), "step 5: logits");
}

}  // namespace
}  // namespace driftless::lab
