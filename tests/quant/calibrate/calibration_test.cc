// SPDX-License-Identifier: Apache-2.0
#include "driftless/quant/calibrate/calibration.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "driftless/quant/calibrate/threshold.h"
#include "driftless/quant/kernels/kernel_set.h"

#include "tests/testing/expect_error.h"
#include "tests/testing/sample_values.h"

namespace driftless::quant {
namespace {

TEST(Histogram, PercentilesAreWithinABinOfTheOrderStatistic) {
  auto values = testing::gaussian_values(5000, 3);
  Histogram histogram;
  histogram.add(values);
  for (float& x : values) x = std::abs(x);
  std::sort(values.begin(), values.end());
  for (const double p : {1.0, 50.0, 90.0, 99.9, 100.0}) {
    const auto rank = static_cast<size_t>(std::ceil(p / 100 * 5000));
    const float exact = values[rank - 1];
    EXPECT_GE(histogram.percentile(p), exact) << p;
    EXPECT_LE(histogram.percentile(p), exact * (1 + 1.0f / 128)) << p;
  }
  EXPECT_EQ(histogram.percentile(100), values.back());
}

TEST(Histogram, OrderAndBatchingDoNotMatter) {
  const auto values = testing::gaussian_values(1000, 4);
  Histogram whole;
  whole.add(values);
  Histogram pieces;
  for (size_t i = values.size(); i > 0; --i) pieces.add({values.data() + i - 1, 1});
  Histogram merged;
  for (const size_t first : {500U, 0U}) {
    Histogram half;
    half.add({values.data() + first, 500});
    merged.merge(half);
  }
  for (const Histogram* other : {&pieces, &merged}) {
    EXPECT_EQ(whole.count(), other->count());
    EXPECT_EQ(whole.extent().low, other->extent().low);
    EXPECT_EQ(whole.extent().high, other->extent().high);
    for (const double p : {5.0, 50.0, 99.0}) EXPECT_EQ(whole.percentile(p), other->percentile(p));
  }
}

TEST(Calibration, FoldRulesByHand) {
  const std::vector<Extent> extents = {{-1, 2}, {-4, 1}, {-1, 6}, {-2, 3}};
  const auto folded = [&](Fold rule) { return fold(rule, extents); };
  EXPECT_EQ(folded({}).low, -4);
  EXPECT_EQ(folded({}).high, 6);
  EXPECT_EQ(folded({.kind = Fold::Kind::Mean}).low, -2);
  EXPECT_EQ(folded({.kind = Fold::Kind::Mean}).high, 3);
  EXPECT_EQ(folded({.kind = Fold::Kind::Percentile, .percentile = 50}).high, 2);
  EXPECT_EQ(folded({.kind = Fold::Kind::Percentile, .percentile = 75}).low, -2);
}

TEST(Calibration, KeepsCallsApartAndFoldsThem) {
  Calibrator calibrator;
  for (const int64_t call : {0, 1, 2}) {
    for (int batch = 0; batch < 2; ++batch) {
      const float peak = static_cast<float>(call + 1) * 7 - static_cast<float>(batch);
      const std::vector<float> x = {0.5f, -peak};
      calibrator.observe("mlp.down", call, {x.data(), 1, 2});
    }
  }
  EXPECT_EQ(calibrator.calls("mlp.down").size(), 3u);
  EXPECT_EQ(calibrator.calls("mlp.down")[1].extent().low, -14);
  const auto scale = [&](const char* text) {
    return calibrator.scale("mlp.down", parse_quant_spec(text)).scale;
  };
  EXPECT_EQ(scale("int4/tensor/static"), 3);
  EXPECT_EQ(scale("int4/tensor/static,fold=mean"), 2);
  EXPECT_EQ(scale("int4/tensor/static,fold=p33"), 1);
}

TEST(Calibration, FoldsTheChosenCallsOnly) {
  for (const auto keep : {Calibrator::Keep::Histograms, Calibrator::Keep::Extents}) {
    Calibrator calibrator(keep);
    for (const int64_t call : {0, 2, 3}) {
      const float peak = 7 * static_cast<float>(call + 1);
      calibrator.observe("mlp.down", call, {&peak, 1, 1});
    }
    const QuantSpec spec = parse_quant_spec("int4/tensor/static");
    const auto scale = [&](std::vector<int64_t> calls) {
      return calibrator.scale("mlp.down", spec, calls).scale;
    };
    EXPECT_EQ(scale({0, 1}), 1) << "call 1 was never observed";
    EXPECT_EQ(scale({2}), 3);
    EXPECT_EQ(scale({0, 2, 3, 9}), 4);
    EXPECT_EQ(calibrator.scale("mlp.down", spec), (Scale{4}));
    EXPECT_ERROR(scale({1}), ErrorCode::InvalidArgument, "none of these calls");
  }
}

TEST(Calibration, RefusesAPercentileOfTooFewValues) {
  Calibrator calibrator;
  std::vector<float> x(99, 1.0f);
  calibrator.observe("a", 0, {x.data(), 1, 99});
  const QuantSpec spec = parse_quant_spec("int4/tensor/static,calib=p99");
  EXPECT_ERROR((void)calibrator.scale("a", spec), ErrorCode::InvalidArgument,
               "saw 99 values in a call, expected at least 100");
  calibrator.observe("a", 0, {x.data(), 1, 1});
  EXPECT_EQ(calibrator.scale("a", spec).scale, 1.0f / 7);
  Calibrator extents(Calibrator::Keep::Extents);
  extents.observe("a", 0, {x.data(), 1, 99});
  EXPECT_ERROR((void)extents.scale("a", spec), ErrorCode::InvalidArgument, "needs histograms");
}

TEST(Calibration, LeastErrorBeatsAbsmaxOnGaussians) {
  const auto values = testing::gaussian_values(20000, 5);
  const QuantSpec mse = parse_quant_spec("int4,calib=mse");
  const Extent extent = threshold(mse, values, 4.5f, kScalarKernels);
  // The best clip of a 4-bit Gaussian lies near 2.4 sigma; the grid step here is 0.09.
  EXPECT_NEAR(extent.high, 2.4f, 0.2f);
  Histogram histogram;
  histogram.add(values);
  EXPECT_NEAR(threshold(mse, histogram).high, 2.4f, 0.2f);
}

TEST(Calibration, RefusesWrongInput) {
  Calibrator calibrator;
  const std::vector<float> x = {1, std::numeric_limits<float>::infinity()};
  EXPECT_ERROR(calibrator.observe("a", 0, {x.data(), 1, 2}), ErrorCode::Numeric, "call 0: value 1");
  EXPECT_ERROR(calibrator.observe("a", -1, {x.data(), 1, 1}), ErrorCode::InvalidArgument, "call");
  EXPECT_ERROR((void)calibrator.calls("a"), ErrorCode::InvalidArgument, "nothing was");
  calibrator.observe("alpha", 0, {x.data(), 1, 1});
  EXPECT_ERROR((void)calibrator.calls("alfa"), ErrorCode::InvalidArgument, "did you mean 'alpha'");
  EXPECT_ERROR((void)calibrator.scale("alpha", parse_quant_spec("mxint4")),
               ErrorCode::InvalidArgument, "static");
}

}  // namespace
}  // namespace driftless::quant
