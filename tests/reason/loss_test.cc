// SPDX-License-Identifier: Apache-2.0
#include "driftless/reason/loss.h"

#include <array>
#include <cmath>

#include <gtest/gtest.h>

namespace driftless::reason {
namespace {

// Logarithms and sums of a few doubles near 1: a few units of 2^-53.
constexpr double kTolerance = 0x1p-48;

TEST(Loss, StablemaxIsTheMeanOverCountedCells) {
  // s = 4, 1/2, 1 and 1, 1/4, 2; the third cell does not count.
  const std::array<float, 9> logits = {3, -1, 0, 0, -3, 1, 7, 7, 7};
  const std::array<uint8_t, 3> labels = {1, 2, 0};
  const double expected = (-std::log(0.5 / 5.5) - std::log(2 / 3.25)) / 2;
  EXPECT_NEAR(stablemax_loss(logits, labels), expected, kTolerance);
  EXPECT_EQ(stablemax_loss(logits, std::array<uint8_t, 3>{}), 0);
}

TEST(Loss, BinaryIsTheLogisticLossAndDoesNotOverflow) {
  EXPECT_NEAR(binary_loss(2, Target::Yes), std::log(1 + std::exp(-2.0)), kTolerance);
  EXPECT_NEAR(binary_loss(2, Target::No), std::log(1 + std::exp(2.0)), kTolerance);
  EXPECT_NEAR(binary_loss(0, Target::No), std::log(2.0), kTolerance);
  EXPECT_EQ(binary_loss(1e6, Target::No), 1e6);
  EXPECT_EQ(binary_loss(1e6, Target::Yes), 0);
}

}  // namespace
}  // namespace driftless::reason
