// SPDX-License-Identifier: Apache-2.0
// Layers whose sensitivity is known: each adds a constant displacement, more with fewer bits, and
// the answer turns wrong when the sum is too large.
#include "driftless/study/recommend.h"

#include <gtest/gtest.h>

#include "driftless/reason/plan/linear_layers.h"

#include "tests/study/linear_reasoner.h"
#include "tests/testing/expect_error.h"

namespace driftless::study {
namespace {

/// The last layer is ten times as sensitive as the others.
float displacement(const quant::QuantPlan& plan, const std::string& sensitive) {
  float sum = 0;
  for (const quant::LayerPlan& layer : plan.layers) {
    const float of_format = layer.weights.format->name == "mxint8" ? 0.001f : 0.03f;
    sum += (layer.name == sensitive ? 10.0f : 1.0f) * of_format;
  }
  return sum;
}

class Recommend : public ::testing::Test {
 protected:
  Recommend() {
    const auto layers = reason::linear_layers(input_.config);
    for (const quant::LinearLayer& layer : layers)
      if (layer.is_in_block) sensitive_ = layer.name;
    backend_.make = [this](const ReasonerRequest& request) -> std::unique_ptr<reason::Reasoner> {
      // Answers stay 1 while the second state stays below the first, which is 1.
      return std::make_unique<testing::LinearReasoner>(
          testing::LinearStep{.gain = 0,
                              .bias = {1, 0.8f + displacement(request.plan, sensitive_)}},
          request.slots);
    };
    input_.choices = {quant::parse_quant_spec("mxint8"), quant::parse_quant_spec("mxint4")};
  }

  task::Task task_ = testing::linear_task();
  std::vector<task::Example> examples_ = {testing::example_of(1, 1), testing::example_of(2, 1)};
  RecommendInput input_{.config = testing::linear_config(),
                        .task = task_,
                        .examples = examples_,
                        .choices = {},
                        .steps = 2,
                        .batch = 1};
  Backend backend_;
  std::string sensitive_;
};

TEST_F(Recommend, NarrowsAllButTheSensitiveLayer) {
  const Recommendation result = recommend(input_, backend_, [](const std::string&) {});
  ASSERT_EQ(result.layers.size(), 4u);
  for (const LayerChoice& layer : result.layers) {
    const bool is_sensitive = layer.layer.name == sensitive_;
    EXPECT_EQ(layer.choice, is_sensitive ? 0u : 1u) << layer.layer.name;
    EXPECT_GT(layer.divergence[1], layer.divergence[0]);
    EXPECT_EQ(quant::to_string(result.plan.find(layer.layer.name)->acts),
              is_sensitive ? "mxint8" : "mxint4");
  }
  EXPECT_TRUE(result.chosen.is_within);
  EXPECT_EQ(result.chosen.narrowed, 3);
  EXPECT_LT(result.chosen.bits.weights, 8.25);
  EXPECT_EQ(result.chosen.paired.n, 2);
}

TEST_F(Recommend, TakesTheNarrowestWhereNothingIsLost) {
  input_.within = 1;
  const Recommendation result = recommend(input_, backend_, [](const std::string&) {});
  EXPECT_EQ(result.chosen.narrowed, 4);
  EXPECT_EQ(result.chosen.bits.weights, 4.25);
  EXPECT_EQ(result.checks.size(), 2u) << "the widest and the narrowest";
}

TEST_F(Recommend, RejectsBadInput) {
  const auto run = [&] { recommend(input_, backend_, [](const std::string&) {}); };
  input_.choices = {quant::parse_quant_spec("mxint4")};
  EXPECT_ERROR(run(), ErrorCode::Numeric, "even mxint4 in every layer");
  input_.choices = {quant::parse_quant_spec("int4/tensor/static")};
  EXPECT_ERROR(run(), ErrorCode::InvalidArgument, "static");
  input_.choices = {};
  EXPECT_ERROR(run(), ErrorCode::InvalidArgument, "choices and boards; got 0");
}

}  // namespace
}  // namespace driftless::study
