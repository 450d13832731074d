// SPDX-License-Identifier: Apache-2.0
#include "driftless/study/measure/principal_plane.h"

#include <cmath>

#include <gtest/gtest.h>

#include "tests/testing/expect_error.h"

namespace driftless::study {
namespace {

// The iteration stops within 1e-12 of a squared cosine, so an axis is within 1e-6.
constexpr double kNear = 1e-6;

TEST(PrincipalPlane, FindsTheTwoLongestAxes) {
  // Sums of squares: 2 * 9 along (0.6, 0.8, 0), 2 * 4 along (0, 0, 1), 2 * 1 along (-0.8, 0.6, 0).
  const std::vector<std::vector<float>> points = {{1.8F, 2.4F, 0},  {-1.8F, -2.4F, 0},
                                                  {0, 0, 2},        {0, 0, -2},
                                                  {-0.8F, 0.6F, 0}, {0.8F, -0.6F, 0}};
  const PrincipalPlane plane = principal_plane(points);
  EXPECT_NEAR(plane.axes[0][0], 0.6, kNear);
  EXPECT_NEAR(plane.axes[0][1], 0.8, kNear);
  EXPECT_NEAR(plane.axes[1][2], 1, kNear);
  EXPECT_NEAR(plane.share[0], 9.0 / 14, kNear);
  EXPECT_NEAR(plane.share[1], 4.0 / 14, kNear);
  const auto [x, y] = plane.project(points[2]);
  EXPECT_NEAR(x, 0, 2 * kNear);
  EXPECT_NEAR(y, 2, 2 * kNear);
}

TEST(PrincipalPlane, PointsOnALineOrNowhere) {
  const std::vector<std::vector<float>> line = {{3, 4}, {-6, -8}};
  const PrincipalPlane plane = principal_plane(line);
  EXPECT_NEAR(plane.share[0], 1, kNear);
  EXPECT_EQ(plane.share[1], 0);
  EXPECT_NEAR(plane.project(line[0])[0], 5, 1e-5);
  EXPECT_EQ(plane.project(line[0])[1], 0);
  const std::vector<std::vector<float>> nowhere = {{0, 0}};
  EXPECT_EQ(principal_plane(nowhere).share[0], 0);
}

TEST(PrincipalPlane, RefusesUnequalPoints) {
  const std::vector<std::vector<float>> none;
  EXPECT_ERROR(principal_plane(none), ErrorCode::InvalidArgument, "no points");
  const std::vector<std::vector<float>> unequal = {{1, 2}, {1}};
  EXPECT_ERROR(principal_plane(unequal), ErrorCode::InvalidArgument, "lengths; got 2 and 1");
}

}  // namespace
}  // namespace driftless::study
