// SPDX-License-Identifier: Apache-2.0
#include "driftless/quant/plan/bias.h"

#include <limits>

#include <gtest/gtest.h>

#include "tests/testing/expect_error.h"

namespace driftless::quant {
namespace {

// Two outputs with the largest weights 7 and 3.5: int4 scales 1 and 0.5 by row, 1 as a whole.
const std::vector<float> kWeight = {7, -1, 2, 3.5f, 0, 1};
const ConstMat kMatrix{kWeight.data(), 2, 3};

LayerPlan head(std::string_view weights, BiasPrecision bias) {
  LayerPlan plan{.name = "head.weight", .weights = parse_quant_spec(weights)};
  plan.acts = parse_quant_spec("int4/tensor/static");
  plan.scales = {{0.25f}};
  plan.bias = bias;
  return plan;
}

using Values = std::vector<float>;

TEST(Bias, CountsInTheScaleOfTheProduct) {
  const Values bias = {-5.1f, 0.3125f};
  // Steps of 0.25 for both outputs, then 0.125 for the second: ties go to the even integer.
  EXPECT_EQ(fake_quantize_bias(head("int4", BiasPrecision::Int16), kMatrix, bias),
            (Values{-5, 0.25f}));
  EXPECT_EQ(fake_quantize_bias(head("int4/channel", BiasPrecision::Int32), kMatrix, bias),
            (Values{-5, 0.25f}));
  EXPECT_EQ(
      fake_quantize_bias(head("int4/channel", BiasPrecision::Int16), kMatrix, Values{0, 0.4f}),
      (Values{0, 0.375f}));
  EXPECT_EQ(fake_quantize_bias(head("int4", BiasPrecision::Float), kMatrix, bias), bias);
}

TEST(Bias, SixteenBitsSaturate) {
  const Values bias = {-9000, 9000};  // 36000 steps
  EXPECT_EQ(fake_quantize_bias(head("int4", BiasPrecision::Int16), kMatrix, bias),
            (Values{-8191.75f, 8191.75f}));
  EXPECT_EQ(fake_quantize_bias(head("int4", BiasPrecision::Int32), kMatrix, bias), bias);
}

TEST(Bias, HasItsOwnScaleWhereProductsHaveMany) {
  const Values bias = {32767, -0.6f};  // a scale of 1
  for (const char* weights : {"mxint4", "int4/group2"})
    EXPECT_EQ(fake_quantize_bias(head(weights, BiasPrecision::Int16), kMatrix, bias),
              (Values{32767, -1}));
  LayerPlan dynamic = head("int4", BiasPrecision::Int16);
  dynamic.acts = parse_quant_spec("int4/token");
  dynamic.scales.clear();
  EXPECT_EQ(fake_quantize_bias(dynamic, kMatrix, bias), (Values{32767, -1}));
  EXPECT_EQ(fake_quantize_bias(dynamic, kMatrix, Values{0, 0}), (Values{0, 0}));
}

TEST(Bias, RefusesNonFiniteValues) {
  const Values bias = {0, std::numeric_limits<float>::infinity()};
  EXPECT_ERROR(fake_quantize_bias(head("int4", BiasPrecision::Int16), kMatrix, bias),
               ErrorCode::Numeric, "head.weight");
}

}  // namespace
}  // namespace driftless::quant
