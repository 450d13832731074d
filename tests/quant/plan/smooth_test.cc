// SPDX-License-Identifier: Apache-2.0
#include "driftless/quant/plan/smooth.h"

#include <cfloat>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "tests/testing/expect_error.h"
#include "tests/testing/sample_values.h"

namespace driftless::quant {
namespace {

TEST(Smooth, FactorsByHand) {
  const std::vector<float> x = {16, 4, 0};
  const std::vector<float> w = {4, 1, 1};
  EXPECT_EQ(smoothing_factors(x, w, 0.5), (std::vector<float>{2, 2, std::sqrt(1e-5f)}));
  EXPECT_EQ(smoothing_factors(x, w, 1), (std::vector<float>{16, 4, 1e-5f}));
  EXPECT_EQ(smoothing_factors(x, w, 0), (std::vector<float>{0.25f, 1, 1}));
}

TEST(Smooth, LeavesTheProductAlone) {
  auto x = testing::gaussian_values(3 * 8, 1);
  auto w = testing::gaussian_values(5 * 8, 2);
  const auto product = [&] {
    std::vector<double> out;
    for (size_t i = 0; i < 3; ++i) {
      for (size_t j = 0; j < 5; ++j) {
        double sum = 0;
        for (size_t k = 0; k < 8; ++k) {
          sum += static_cast<double>(x[i * 8 + k]) * static_cast<double>(w[j * 8 + k]);
        }
        out.push_back(sum);
      }
    }
    return out;
  };
  std::vector<float> x_max(8, 0.0f);
  std::vector<float> w_max(8, 0.0f);
  update_column_absmax({x.data(), 3, 8}, x_max);
  update_column_absmax({w.data(), 5, 8}, w_max);
  const auto before = product();
  const auto factors = smoothing_factors(x_max, w_max, 0.7);
  smooth_activations(factors, {x.data(), 3, 8});
  smooth_weights(factors, {w.data(), 5, 8});
  const auto after = product();
  // Each of the 8 terms, of magnitude at most x_max * w_max, gets two roundings of half an epsilon.
  double bound = 0;
  for (size_t k = 0; k < 8; ++k) bound += static_cast<double>(x_max[k] * w_max[k]) * FLT_EPSILON;
  for (size_t i = 0; i < before.size(); ++i) EXPECT_NEAR(after[i], before[i], bound);
}

TEST(Smooth, RefusesWrongInput) {
  const std::vector<float> two(2);
  const std::vector<float> three(3);
  EXPECT_ERROR(smoothing_factors(two, three, 0.5), ErrorCode::InvalidArgument, "got 3, expected 2");
  EXPECT_ERROR(smoothing_factors(two, two, 1.5), ErrorCode::InvalidArgument, "strength");
}

}  // namespace
}  // namespace driftless::quant
