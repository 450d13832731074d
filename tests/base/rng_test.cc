// SPDX-License-Identifier: Apache-2.0
#include "driftless/base/rng.h"

#include <array>
#include <cmath>

#include <gtest/gtest.h>

namespace driftless {
namespace {

TEST(Rng, SameSeedSameSequenceOtherSeedOther) {
  Rng a(7);
  Rng b(7);
  Rng c(8);
  EXPECT_EQ(a.next(), b.next());
  EXPECT_NE(a.next(), c.next());
}

TEST(Rng, RestoredStateContinuesTheSequence) {
  Rng rng(3);
  rng.gaussian();
  const Rng::State saved = rng.state();
  const double gaussian = rng.gaussian();
  const uint64_t next = rng.next();
  Rng other(99);
  other.restore(saved);
  EXPECT_EQ(other.gaussian(), gaussian);
  EXPECT_EQ(other.next(), next);
}

TEST(Rng, BelowIsUniform) {
  Rng rng(1);
  constexpr int64_t kDraws = 60000;
  std::array<int64_t, 6> counts{};
  for (int64_t i = 0; i < kDraws; ++i) ++counts.at(rng.below(6));
  const double sigma = std::sqrt(kDraws * (1.0 / 6) * (5.0 / 6));
  for (const int64_t count : counts)
    EXPECT_NEAR(static_cast<double>(count), kDraws / 6.0, 5 * sigma);
}

TEST(Rng, GaussianHasUnitMoments) {
  Rng rng(1);
  constexpr int64_t kDraws = 100000;
  double sum = 0;
  double squares = 0;
  for (int64_t i = 0; i < kDraws; ++i) {
    const double x = rng.gaussian();
    sum += x;
    squares += x * x;
  }
  // Standard errors: 1/sqrt(n) of the mean, sqrt(2/n) of the second moment; five of each.
  EXPECT_NEAR(sum / kDraws, 0, 5 / std::sqrt(kDraws));
  EXPECT_NEAR(squares / kDraws, 1, 5 * std::sqrt(2.0 / kDraws));
}

}  // namespace
}  // namespace driftless
