// SPDX-License-Identifier: Apache-2.0
#include "driftless/quant/plan/hadamard.h"

#include <cfloat>
#include <cmath>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "tests/testing/expect_error.h"
#include "tests/testing/sample_values.h"

namespace driftless::quant {
namespace {

/// The matrix of the transform as +-1, after checking that its entries are that over sqrt(n).
std::vector<int64_t> signs_of(const Hadamard& hadamard) {
  const int64_t n = hadamard.input_length();
  std::vector<float> identity(static_cast<size_t>(n * n));
  for (int64_t i = 0; i < n; ++i) identity[static_cast<size_t>(i * n + i)] = 1;
  std::vector<float> rotated(identity.size());
  hadamard.apply({identity.data(), n, n}, {rotated.data(), n, n});
  std::vector<int64_t> signs;
  for (const float x : rotated) {
    // 1/sqrt(n) takes two roundings, of half an epsilon each.
    EXPECT_NEAR(std::abs(x) * std::sqrt(static_cast<double>(n)), 1, FLT_EPSILON);
    signs.push_back(x > 0 ? 1 : -1);
  }
  return signs;
}

TEST(Hadamard, RowsAreOrthogonal) {
  for (const int64_t n : {1, 2, 4, 12, 16, 20, 24, 28, 36, 44, 48, 60, 96, 104, 108, 128, 140}) {
    ASSERT_TRUE(is_hadamard_order(n)) << n;
    const auto h = signs_of(Hadamard::whole(n));
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = 0; j < n; ++j) {
        const int64_t dot = std::inner_product(h.begin() + i * n, h.begin() + (i + 1) * n,
                                               h.begin() + j * n, int64_t{0});
        EXPECT_EQ(dot, i == j ? n : 0) << "order " << n;
      }
    }
  }
}

TEST(Hadamard, KnowsWhichOrdersExist) {
  for (const int64_t n : {3, 5, 6, 7, 10, 14, 18, 81, 97}) EXPECT_FALSE(is_hadamard_order(n)) << n;
  EXPECT_EQ(hadamard_order_for(97), 104);
  EXPECT_EQ(hadamard_order_for(81), 84);
  EXPECT_EQ(hadamard_order_for(1536), 1536);
}

TEST(Hadamard, KeepsNormsAndInvertsForAwkwardLengths) {
  for (const int64_t n : {1, 3, 81, 97, 512, 1536}) {
    for (const bool in_blocks : {false, true}) {
      const Hadamard hadamard = in_blocks ? Hadamard::blocks(n, 32) : Hadamard::whole(n);
      const auto x = testing::gaussian_values(2 * n, 7);
      std::vector<float> y(static_cast<size_t>(2 * hadamard.output_length()));
      hadamard.apply({x.data(), 2, n}, {y.data(), 2, hadamard.output_length()});
      std::vector<float> back(x.size());
      hadamard.invert({y.data(), 2, hadamard.output_length()}, {back.data(), 2, n});
      double norm = 0;
      double norm_rotated = 0;
      double error = 0;
      for (size_t i = 0; i < x.size(); ++i) {
        norm += static_cast<double>(x[i]) * static_cast<double>(x[i]);
        error += std::pow(static_cast<double>(back[i]) - static_cast<double>(x[i]), 2);
      }
      for (const float v : y) norm_rotated += static_cast<double>(v) * static_cast<double>(v);
      // Each output is a sum of n terms; its relative error is below n epsilons of the norm.
      const double bound = static_cast<double>(hadamard.output_length()) * FLT_EPSILON;
      EXPECT_NEAR(norm_rotated / norm, 1, 2 * bound) << n;
      EXPECT_LE(std::sqrt(error / norm), 2 * bound) << n;
    }
  }
}

TEST(Hadamard, BlocksDoNotMix) {
  const Hadamard hadamard = Hadamard::blocks(64, 32);
  std::vector<float> x(64, 0.0f);
  x[40] = 1;
  std::vector<float> y(64);
  hadamard.apply({x.data(), 1, 64}, {y.data(), 1, 64});
  for (size_t i = 0; i < 32; ++i) EXPECT_EQ(y[i], 0);
  for (size_t i = 32; i < 64; ++i) EXPECT_NEAR(std::abs(y[i]), 1 / std::sqrt(32.0), FLT_EPSILON);
}

TEST(Hadamard, RefusesWrongShapes) {
  EXPECT_ERROR(Hadamard::whole(0), ErrorCode::InvalidArgument, "length");
  EXPECT_ERROR(Hadamard::blocks(64, 10), ErrorCode::InvalidArgument, "block; got 10");
  std::vector<float> x(97);
  std::vector<float> y(97);
  EXPECT_ERROR(Hadamard::whole(97).apply({x.data(), 1, 97}, {y.data(), 1, 97}),
               ErrorCode::InvalidArgument, "expected 1 x 104");
}

}  // namespace
}  // namespace driftless::quant
