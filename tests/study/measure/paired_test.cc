// SPDX-License-Identifier: Apache-2.0
#include "driftless/study/measure/paired.h"

#include <cmath>

#include <gtest/gtest.h>

namespace driftless::study {
namespace {

TEST(Paired, DifferenceAndIntervalByHand) {
  const Paired paired{.lost = 6, .gained = 2, .n = 100};
  EXPECT_DOUBLE_EQ(paired.difference(), -0.04);
  // Variance (8 - 16 / 100) / 100^2.
  const double half = 1.959963984540054 * std::sqrt(7.84) / 100;
  EXPECT_NEAR(paired.interval().low, -0.04 - half, 1e-12);
  EXPECT_NEAR(paired.interval().high, -0.04 + half, 1e-12);
}

TEST(Paired, ExactTestByHand) {
  // Of 8 throws at most 2 or at least 6: 2 (1 + 8 + 28) / 256. Log-gamma is good to 1e-12 here.
  EXPECT_NEAR((Paired{.lost = 6, .gained = 2, .n = 100}.p_value()), 74.0 / 256, 1e-12);
  EXPECT_NEAR((Paired{.lost = 2, .gained = 6, .n = 100}.p_value()), 74.0 / 256, 1e-12);
  EXPECT_NEAR((Paired{.lost = 5, .gained = 0, .n = 5}.p_value()), 2.0 / 32, 1e-12);
  EXPECT_EQ((Paired{.lost = 3, .gained = 3, .n = 9}.p_value()), 1);
  EXPECT_EQ((Paired{.lost = 0, .gained = 0, .n = 9}.p_value()), 1);
}

TEST(Paired, LargeCountsStayFinite) {
  const double p = Paired{.lost = 5000, .gained = 5200, .n = 100000}.p_value();
  // The normal approximation with continuity: z = 199 / sqrt(10200), p = 0.0488.
  EXPECT_NEAR(p, 0.0488, 0.0005);
  EXPECT_GE((Paired{.lost = 100000, .gained = 0, .n = 100000}.p_value()), 0);
}

TEST(Paired, NothingMeasured) {
  EXPECT_EQ(Paired{}.difference(), 0);
  EXPECT_EQ(Paired{}.interval().low, -1);
}

}  // namespace
}  // namespace driftless::study
