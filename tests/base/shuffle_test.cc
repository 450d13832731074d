// SPDX-License-Identifier: Apache-2.0
#include "driftless/base/shuffle.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <map>

#include <gtest/gtest.h>

namespace driftless {
namespace {

TEST(Shuffle, EveryOrderIsEquallyLikely) {
  Rng rng(1);
  constexpr int64_t kDraws = 24000;
  std::map<std::array<int, 4>, int64_t> counts;
  for (int64_t i = 0; i < kDraws; ++i) {
    std::array<int, 4> items = {1, 2, 3, 4};
    shuffle(std::span(items), rng);
    ++counts[items];
  }
  ASSERT_EQ(counts.size(), 24u);
  const double sigma = std::sqrt(kDraws * (1.0 / 24) * (23.0 / 24));
  for (const auto& [order, count] : counts)
    EXPECT_NEAR(static_cast<double>(count), kDraws / 24.0, 5 * sigma);
}

TEST(Shuffle, NothingToShuffleDrawsNothing) {
  Rng rng(1);
  Rng untouched(1);
  shuffle(std::span<int>(), rng);
  std::array<int, 1> one = {5};
  shuffle(std::span(one), rng);
  EXPECT_EQ(rng.next(), untouched.next());
}

}  // namespace
}  // namespace driftless
