// SPDX-License-Identifier: Apache-2.0
#include "driftless/task/score.h"

#include <array>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "tests/testing/expect_error.h"

namespace driftless::task {
namespace {

using driftless::testing::expect_error;

TEST(Share, WilsonIntervalByHand) {
  // With z^2 = 3.841459 and n = 10, hits = 5: center 0.5, half 1.959964 / 1.3841459 *
  // sqrt(0.025 + 3.841459 / 400) = 1.4160100 * 0.1860206 = 0.2634070.
  const Interval half = Share{.hits = 5, .n = 10}.interval();
  EXPECT_NEAR(half.low, 0.2365931, 1e-6);
  EXPECT_NEAR(half.high, 0.7634069, 1e-6);
  // No hit in 10: 0 to z^2 / (n + z^2) = 3.841459 / 13.841459.
  const Interval none = Share{.hits = 0, .n = 10}.interval();
  EXPECT_EQ(none.low, 0);
  EXPECT_NEAR(none.high, 0.2775328, 1e-6);
  const Interval all = Share{.hits = 10, .n = 10}.interval();
  EXPECT_NEAR(all.low, 0.7224672, 1e-6);
  EXPECT_EQ(all.high, 1);
}

TEST(Share, IntervalEndsSolveTheDefiningEquation) {
  for (const Share share :
       {Share{.hits = 1, .n = 3}, {.hits = 446, .n = 1000}, {.hits = 1, .n = 9974}}) {
    const Interval interval = share.interval();
    EXPECT_LT(interval.low, share.value());
    EXPECT_GT(interval.high, share.value());
    for (const double p : {interval.low, interval.high}) {
      const auto n = static_cast<double>(share.n);
      const double deviation = std::abs(static_cast<double>(share.hits) - n * p);
      // Rounding of p is amplified by about n / deviation at most.
      EXPECT_NEAR(deviation / std::sqrt(n * p * (1 - p)), 1.959963984540054, 1e-9);
    }
  }
}

TEST(Share, OfNothingIsZeroAndUnknown) {
  const Share none;
  EXPECT_EQ(none.value(), 0);
  EXPECT_EQ(none.interval().low, 0);
  EXPECT_EQ(none.interval().high, 1);
}

TEST(Share, OfMatchingCellsLeavesOutThePad) {
  using Row = std::vector<uint8_t>;
  EXPECT_EQ(matching_cells(Row{2, 3, 4}, Row{2, 3, 5}), (Share{.hits = 2, .n = 3}));
  EXPECT_EQ(matching_cells(Row{0, 3, 0}, Row{9, 3, 9}), (Share{.hits = 1, .n = 1}));
  expect_error(ErrorCode::InvalidArgument, "got 2 and 1", [] {
    matching_cells(Row{1, 2}, Row{1});
  });
}

TEST(Moments, MeanAndIntervalByHand) {
  Moments moments;
  for (const double value : {1.0, 2.0, 3.0, 6.0}) moments.add(value);
  EXPECT_EQ(moments.mean(), 3);
  // Squared deviations 4 + 1 + 0 + 9 = 14, variance 14 / 3, half width 1.96 sqrt(14 / 12).
  const double half = 1.959963984540054 * std::sqrt(14.0 / 12);
  EXPECT_NEAR(moments.interval().low, 3 - half, 1e-12);
  EXPECT_NEAR(moments.interval().high, 3 + half, 1e-12);
}

TEST(Moments, FewValuesHaveNoWidth) {
  Moments moments;
  EXPECT_EQ(moments.mean(), 0);
  moments.add(5);
  EXPECT_EQ(moments.interval().low, 5);
  EXPECT_EQ(moments.interval().high, 5);
}

TEST(Moments, CountsShares) {
  Moments moments;
  for (const double value : {1.0, 0.0, 1.0}) moments.add(value);
  EXPECT_EQ(moments.share(), (Share{.hits = 2, .n = 3}));
}

TEST(Moments, SetsMerge) {
  Moments whole, first, second;
  for (const double value : {0.25, 0.5}) first.add(value);
  second.add(1);
  for (const double value : {0.25, 0.5, 1.0}) whole.add(value);
  first.merge(second);
  EXPECT_EQ(first, whole) << "all sums are exact";
}

TEST(Moments, ShareIntervalByHand) {
  Moments shares;
  EXPECT_EQ(shares.mean(), 0);
  EXPECT_EQ(shares.share_interval().high, 1);
  for (const double value : {0.2, 0.4, 0.9}) shares.add(value);
  // Distances from 0.5: -0.3, -0.1, 0.4; variance 0.26 / 2; half 1.959964 * sqrt(0.13 / 3).
  EXPECT_NEAR(shares.share_interval().low, 0.5 - 0.4079990, 1e-6);
  EXPECT_NEAR(shares.share_interval().high, 0.5 + 0.4079990, 1e-6);
}

TEST(Moments, ShareIntervalStaysBetweenZeroAndOne) {
  Moments shares;
  shares.add(1);
  // One board says nothing about the spread: 1 / (1 + z^2), as Wilson.
  EXPECT_NEAR(shares.share_interval().low, 0.2065493, 1e-6);
  shares.add(0);
  EXPECT_EQ(shares.share_interval().low, 0);
  EXPECT_EQ(shares.share_interval().high, 1);
}

TEST(Moments, EqualSharesGetWilsonsInterval) {
  for (const double value : {0.1, 1.0 / 3, 0.9}) {
    Moments shares;
    for (int64_t n = 1; n <= 1000; ++n) {
      shares.add(value);
      const Interval wilson = wilson_interval(shares.mean(), n);
      ASSERT_EQ(shares.share_interval().low, wilson.low) << value << " " << n;
    }
  }
}

TEST(Moments, OfBoardsAreWiderThanOfCellsTakenAsIndependent) {
  Moments boards;
  Share cells;
  for (int64_t i = 0; i < 100; ++i) {
    const Share board{.hits = i % 2 == 0 ? 81 : 50, .n = 81};
    boards.add(board.value());
    cells.add(board.hits, board.n);
  }
  EXPECT_NEAR(boards.mean(), cells.value(), 1e-14);
  const Interval wide = boards.share_interval();
  const Interval narrow = cells.interval();
  EXPECT_GT(wide.high - wide.low, 3 * (narrow.high - narrow.low));
}

TEST(Score, CountsBoardsCellsAndSteps) {
  Score score;
  score.add(Outcome::Exact, {.hits = 3, .n = 3}, 16);
  score.add(Outcome::Accepted, {.hits = 1, .n = 3}, 4);
  score.add(Outcome::Wrong, {.hits = 2, .n = 3}, 1);
  score.add(Outcome::Exact, {.hits = 0, .n = 0}, 99);
  EXPECT_EQ(score.exact, (Share{.hits = 1, .n = 3}));
  EXPECT_EQ(score.accepted, (Share{.hits = 2, .n = 3}));
  EXPECT_EQ(score.cells.n, 3);
  EXPECT_NEAR(score.cells.mean(), (1 + 1.0 / 3 + 2.0 / 3) / 3, 1e-15);  // a few roundings
  EXPECT_EQ(score.mean_steps(), 7);
  EXPECT_EQ(Score{}.mean_steps(), 0);
  expect_error(ErrorCode::InvalidArgument, "negative steps",
               [&] { score.add(Outcome::Wrong, {.hits = 0, .n = 1}, -1); });
}

}  // namespace
}  // namespace driftless::task
