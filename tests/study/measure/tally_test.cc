// SPDX-License-Identifier: Apache-2.0
#include "driftless/study/measure/tally.h"

#include <gtest/gtest.h>

#include "tests/testing/expect_error.h"

namespace driftless::study {
namespace {

Tally tally_of(double first, double second) {
  Tally tally;
  tally.add("a", 2, first);
  tally.add("a", 0, second);
  tally.add_vector("v", std::vector<double>{first, second});
  return tally;
}

TEST(Tally, MergesByNameAndIndex) {
  Tally tally = tally_of(1, 2);
  tally.merge(tally_of(10, 20));
  ASSERT_EQ(tally.series("a").size(), 3u);
  EXPECT_EQ(tally.series("a")[0], (Moments{.n = 2, .sum = 22, .squares = 404}));
  EXPECT_EQ(tally.series("a")[1], Moments{});
  EXPECT_EQ(tally.series("a")[2], (Moments{.n = 2, .sum = 11, .squares = 101}));
  EXPECT_EQ(tally.vector("v")[1], 22);
  EXPECT_TRUE(tally.series("b").empty());
  EXPECT_FALSE(tally.has("b"));
}

TEST(Tally, BytesKeepEveryBit) {
  const Tally tally = tally_of(1.0 / 3, 1e-300);
  EXPECT_EQ(Tally::from_bytes(tally.to_bytes()), tally);
  EXPECT_EQ(Tally::from_bytes(Tally().to_bytes()), Tally());
  const std::vector<uint8_t> damaged = {1, 2, 3};
  EXPECT_ERROR(Tally::from_bytes(damaged), ErrorCode::BadFile, "tally");
}

}  // namespace
}  // namespace driftless::study
