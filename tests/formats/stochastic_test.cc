// SPDX-License-Identifier: Apache-2.0
#include "driftless/formats/stochastic.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "driftless/base/rng.h"

namespace driftless::formats {
namespace {

constexpr uint32_t kDraws = 1u << 16;

double rounded(float value, uint32_t draw) {
  return Bf16::decode(encode_bf16_stochastic(value, static_cast<uint16_t>(draw)));
}

TEST(StochasticBf16, HasTheValueAsItsMeanOverAllDraws) {
  // Across an octave's end, subnormal, signed, and one unit of float32 beside a value of bf16.
  for (const float value : {0.1f, -0.1f, 1.0f + 0x1p-23f, 2.0f - 0x1p-23f, -3.14159f, 1e-40f,
                            std::numeric_limits<float>::denorm_min(), 1e30f}) {
    // Codes have 8 bits and differ by at most one unit: sums of 2^16 are exact in a double.
    double sum = 0;
    for (uint32_t draw = 0; draw < kDraws; ++draw) sum += rounded(value, draw);
    EXPECT_EQ(sum / kDraws, value);
  }
}

TEST(StochasticBf16, TakesOnlyTheTwoNeighbours) {
  Rng rng(1);
  for (int i = 0; i < 10'000; ++i) {
    const auto value = static_cast<float>(rng.gaussian());
    const double below = rounded(value, 0);
    const double above = rounded(value, kDraws - 1);
    EXPECT_LE(std::abs(below), std::abs(value));
    EXPECT_GE(std::abs(above), std::abs(value));
    const double got = rounded(value, static_cast<uint32_t>(rng.below(kDraws)));
    EXPECT_TRUE(got == below || got == above) << value;
    const double nearest = Bf16::decode(Bf16::encode(value));
    EXPECT_TRUE(nearest == below || nearest == above) << value;
  }
}

TEST(StochasticBf16, KeepsEveryValueOfBf16) {
  for (uint32_t code = 0; code < kDraws; ++code) {
    const float value = Bf16::decode(static_cast<uint16_t>(code));
    if (!std::isfinite(value)) continue;
    for (const uint32_t draw : {0u, 1u, kDraws / 2, kDraws - 1})
      ASSERT_EQ(encode_bf16_stochastic(value, static_cast<uint16_t>(draw)), code) << value;
  }
}

TEST(StochasticBf16, SaturatesAtTheLargest) {
  const float max = std::numeric_limits<float>::max();
  for (const uint32_t draw : {0u, kDraws - 1}) {
    EXPECT_EQ(rounded(max, draw), Bf16::decode(Bf16::kMaxCode));
    EXPECT_EQ(rounded(-max, draw), -Bf16::decode(Bf16::kMaxCode));
  }
}

TEST(StochasticBf16, DrawsOfTheGeneratorAreUnbiased) {
  constexpr int64_t kCount = 100'000;
  constexpr float kValue = 1 + 0.3f / 128;
  Rng rng(7);
  double sum = 0;
  for (int64_t i = 0; i < kCount; ++i)
    sum += rounded(kValue, static_cast<uint16_t>(rng.next())) - kValue;
  // Rounded up with probability 0.3 by a unit of 2^-7: five standard deviations of the sum.
  EXPECT_LT(std::abs(sum), 5 * std::sqrt(0.3 * 0.7 * kCount) / 128);
}

}  // namespace
}  // namespace driftless::formats
