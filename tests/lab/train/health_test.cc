// SPDX-License-Identifier: Apache-2.0
#include "driftless/lab/train/health.h"

#include <limits>
#include <set>

#include <gtest/gtest.h>

namespace driftless::lab {
namespace {

std::array<at::Tensor, kWatchedCount> healthy() {
  std::array<at::Tensor, kWatchedCount> tensors;
  tensors.fill(at::ones({3}));
  return tensors;
}
at::Tensor number(int64_t step) { return at::full({}, step, at::kLong); }

TEST(Health, NamesTheFirstStepAndTensor) {
  Ranks alone;
  Health health(at::kCPU);
  health.watch(number(4), healthy(), alone);
  EXPECT_FALSE(health.first_bad().has_value());
  EXPECT_FALSE(health.is_bad().item<bool>());
  auto tensors = healthy();
  tensors[3] = at::full({3}, std::numeric_limits<float>::infinity());
  tensors[7] = at::full({3}, std::numeric_limits<float>::quiet_NaN());
  health.watch(number(5), tensors, alone);
  tensors[1] = tensors[7];
  health.watch(number(6), tensors, alone);
  EXPECT_TRUE(health.is_bad().item<bool>());
  const std::optional<BadStep> first = health.first_bad();
  ASSERT_TRUE(first.has_value());
  EXPECT_EQ(first->step, 5);
  EXPECT_EQ(first->what, Watched::Logits);
}

TEST(Health, EveryTensorIsFoundAndHasANameOfItsOwn) {
  Ranks alone;
  std::set<std::string_view> names;
  for (size_t i = 0; i < kWatchedCount; ++i) {
    Health health(at::kCPU);
    auto tensors = healthy();
    tensors[0] = at::empty({0});  // as a float run has them
    tensors[i] = at::full({1}, std::numeric_limits<float>::quiet_NaN());
    health.watch(number(1), tensors, alone);
    const auto first = health.first_bad();
    ASSERT_TRUE(first.has_value());
    EXPECT_EQ(first->what, static_cast<Watched>(i));
    names.insert(to_string(first->what));
  }
  EXPECT_EQ(names.size(), kWatchedCount);
}

}  // namespace
}  // namespace driftless::lab
