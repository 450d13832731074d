// SPDX-License-Identifier: Apache-2.0
#include "driftless/quant/plan/plan.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "driftless/quant/plan/plan_json.h"

#include "tests/testing/expect_error.h"

namespace driftless::quant {
namespace {

constexpr int64_t kCalls = 3;

std::vector<LinearLayer> some_layers() {
  return {
      {.name = "net.layers.0.up.weight", .outputs = 6, .inputs = 4},
      {.name = "net.layers.0.down.weight", .outputs = 4, .inputs = 6},
      {.name = "head.weight", .outputs = 2, .inputs = 4, .is_in_block = false, .has_bias = true}};
}

Scheme scheme(std::string_view weights, std::string_view acts, Coverage coverage) {
  return {
      .weights = parse_quant_spec(weights), .acts = parse_quant_spec(acts), .coverage = coverage};
}

TEST(Plan, CoverageChoosesTheLayers) {
  const auto layers = some_layers();
  const QuantPlan block = resolve(scheme("mxint4", "int4/token", Coverage::Block), layers);
  ASSERT_EQ(block.layers.size(), 2u);
  EXPECT_EQ(block.layers[0].name, layers[0].name);
  EXPECT_EQ(to_string(block.layers[1].weights), "mxint4");
  EXPECT_EQ(to_string(block.layers[1].acts), "int4/token");
  EXPECT_EQ(block.find("head.weight"), nullptr);
  EXPECT_FALSE(block.needs_calibration());
  EXPECT_EQ(describe(block, layers), "weights mxint4, acts int4/token, coverage block");
  const QuantPlan all = resolve(scheme("mxint4", "none", Coverage::Linear), layers);
  EXPECT_NE(all.find("head.weight"), nullptr);
  EXPECT_EQ(describe(all, layers), "weights mxint4, acts none, coverage linear");
  EXPECT_TRUE(resolve(scheme("none", "none", Coverage::Linear), layers).layers.empty());
  Scheme delta = scheme("mxint4", "mxint4", Coverage::Linear);
  delta.delta = true;
  QuantPlan changes = resolve(delta, layers);
  EXPECT_TRUE(changes.layers[0].delta);
  EXPECT_FALSE(changes.layers[2].delta) << "heads run once a step";
  changes.layers[2].delta = true;
  EXPECT_ERROR(require_fits(changes, layers, 3, "p"), ErrorCode::BadConfig, "heads");
  EXPECT_EQ(describe({}, layers), "weights none, acts none");
}

TEST(Plan, WeightsHaveNoStaticScalesAndActivationsWantCalibration) {
  const auto layers = some_layers();
  const QuantPlan plan = resolve(
      scheme("int4/tensor/static,fold=mean", "int4/tensor/static", Coverage::Block), layers);
  EXPECT_EQ(to_string(plan.layers[0].weights), "int4");
  EXPECT_TRUE(plan.needs_calibration());
  Scheme smooth = scheme("int4", "int4", Coverage::Block);
  smooth.smooth = 0.5;
  EXPECT_TRUE(resolve(smooth, layers).needs_calibration());
}

TEST(Plan, BiasGoesWhereThereIsOne) {
  const auto layers = some_layers();
  Scheme with_bias = scheme("int4", "int4", Coverage::Linear);
  with_bias.bias = BiasPrecision::Int16;
  const QuantPlan plan = resolve(with_bias, layers);
  EXPECT_EQ(plan.find("head.weight")->bias, BiasPrecision::Int16);
  EXPECT_EQ(plan.layers[0].bias, BiasPrecision::Float);
  with_bias.coverage = Coverage::Block;
  EXPECT_ERROR(resolve(with_bias, layers), ErrorCode::InvalidArgument, "coverage linear");
}

TEST(Plan, AttentionNeedsAModelThatHasIt) {
  auto layers = some_layers();
  Scheme with_attention = scheme("mxint4", "mxint4", Coverage::Block);
  with_attention.attention = AttentionPrecision::Int8;
  EXPECT_EQ(to_string(with_attention),
            "weights mxint4, acts mxint4, coverage block, attention int8");
  EXPECT_ERROR(resolve(with_attention, layers), ErrorCode::InvalidArgument, "expected none");
  EXPECT_ERROR(require_fits({.attention = AttentionPrecision::Int8}, layers, kCalls, "p.json"),
               ErrorCode::BadConfig, "p.json: attention: the model mixes tokens without it");
  layers[0].feeds_attention = true;
  const QuantPlan plan = resolve(with_attention, layers);
  EXPECT_EQ(plan.attention, AttentionPrecision::Int8);
  require_fits(plan, layers, kCalls, "p");
  EXPECT_EQ(describe(plan, layers), to_string(with_attention));
  const QuantPlan alone{.attention = AttentionPrecision::Int8};
  EXPECT_EQ(describe(alone, layers), "weights none, acts none, attention int8");
  EXPECT_FALSE(alone.is_float());
  EXPECT_TRUE(QuantPlan{}.is_float());
  EXPECT_ERROR((void)parse_attention_precision("int9"), ErrorCode::InvalidArgument,
               "did you mean 'int8'");
}

TEST(Plan, DescribesMixedLayers) {
  const auto layers = some_layers();
  QuantPlan plan = resolve(scheme("mxint4", "mxint4", Coverage::Linear), layers);
  plan.layers[1].weights = parse_quant_spec("int8");
  EXPECT_EQ(describe(plan, layers), "weights mxint4 x 2 | int8 x 1, acts mxint4, coverage linear");
}

TEST(Plan, RefusesQuantizersOnTheWrongSide) {
  const auto layers = some_layers();
  const auto code = ErrorCode::InvalidArgument;
  EXPECT_ERROR(resolve(scheme("int4/token", "none", Coverage::Block), layers), code, "channel");
  EXPECT_ERROR(resolve(scheme("none", "int4/channel", Coverage::Block), layers), code, "token");
  Scheme smooth = scheme("int4", "int4", Coverage::Block);
  smooth.smooth = 1.5;
  EXPECT_ERROR(resolve(smooth, layers), code, "strength; got 1.5");
  for (const char* acts : {"none", "int4/tensor/static"}) {
    Scheme delta = scheme("int4", acts, Coverage::Block);
    delta.delta = true;
    EXPECT_ERROR(resolve(delta, layers), code, "delta: acts '" + std::string(acts) + "'; expected");
  }
}

TEST(Plan, RefusesWhatDoesNotFitTheModel) {
  const auto layers = some_layers();
  const auto code = ErrorCode::BadConfig;
  const QuantPlan good = resolve(scheme("int4", "int4/tensor/static", Coverage::Linear), layers);
  require_fits(good, layers, kCalls, "p");
  const auto refuse = [&](auto&& change, std::string_view word) {
    QuantPlan plan = good;
    change(plan.layers[0]);
    testing::expect_error(code, word, [&] { require_fits(plan, layers, kCalls, "p.json"); });
  };
  refuse([](LayerPlan& l) { l.name = "net.layers.0.pu.weight"; },
         "did you mean 'net.layers.0.up.weight'");
  refuse([](LayerPlan& l) { l.name = "head.weight"; }, "twice");
  refuse([](LayerPlan& l) { l.scales = {{1}, {1}}; }, "got 2, expected 1 or 3");
  refuse([](LayerPlan& l) { l.scales = {{-1}}; }, "positive");
  refuse([](LayerPlan& l) { l.input_absmax = {1, 2}; }, "got 2 values, expected 4");
  refuse([](LayerPlan& l) { l.bias = BiasPrecision::Int32; }, "no bias");
  refuse([](LayerPlan& l) { l.weights.source = Source::Static; }, "static");
  refuse([](LayerPlan& l) { l.delta = true; }, "delta: acts 'int4/tensor/static'");
  refuse(
      [](LayerPlan& l) {
        l.acts = parse_quant_spec("mxint4");
        l.scales = {{1}};
      },
      "not static");
}

QuantPlan awkward_plan() {
  QuantPlan plan = resolve(
      scheme("uint4/channel", "uint4/tensor/static,calib=p99.9,fold=mean", Coverage::Linear),
      some_layers());
  plan.layers[0].scales = {{0.1f, 3}, {0x1p-126f, 0}, {1.0f / 3, 15}};
  plan.layers[0].sharing = ScaleSharing::Call;
  plan.layers[1].smooth = 0.3;
  plan.layers[1].input_absmax = {0.1f, 1e-30f, 3e38f, 0, 1, 2};
  plan.layers[1].hadamard = true;
  plan.layers[2].delta = true;
  plan.layers[2].bias = BiasPrecision::Int32;
  plan.attention = AttentionPrecision::Int8;
  return plan;
}

TEST(PlanJson, SurvivesToTheBit) {
  QuantPlan plan = awkward_plan();
  QuantPlan again = plan_from_json(plan_to_json(plan), "p");
  const auto by_name = [](const LayerPlan& a, const LayerPlan& b) { return a.name < b.name; };
  std::sort(plan.layers.begin(), plan.layers.end(), by_name);
  std::sort(again.layers.begin(), again.layers.end(), by_name);
  EXPECT_EQ(again, plan);
  EXPECT_EQ(plan_from_json(plan_to_json({}), "p"), QuantPlan{});
}

TEST(PlanJson, ReadsWhatAUserWrites) {
  const QuantPlan plan =
      plan_from_json(R"({"version": 1, "layers": {"a": {"weights": "mxint4"}}})", "p");
  ASSERT_EQ(plan.layers.size(), 1u);
  EXPECT_TRUE(plan.layers[0].acts.is_none());
  EXPECT_EQ(plan.attention, AttentionPrecision::Float);
}

TEST(PlanJson, RefusesAnythingElse) {
  const auto refuse = [](std::string_view text, std::string_view word) {
    testing::expect_error(ErrorCode::BadConfig, word, [&] { plan_from_json(text, "p.json"); });
  };
  const auto layer = [](std::string_view body) {
    return R"({"version": 1, "layers": {"a": )" + std::string(body) + "}}";
  };
  refuse("[]", "p.json: wrong type; got array");
  refuse("{", "not valid JSON");
  refuse(R"({"layers": {}})", "missing key 'version'");
  refuse(R"({"version": 2, "layers": {}})", "version");
  refuse(R"({"version": 1, "layer": {}})", "did you mean 'layers'");
  refuse(R"({"version": 1, "layers": []})", "layers");
  refuse(R"({"version": 1, "layers": {}, "attention": "mxint8"})", "did you mean 'int8'");
  refuse(R"({"version": 1, "layers": {}, "attention": 8})", "expected a string");
  refuse(layer("1"), "expected an object");
  refuse(layer(R"({"weight": "int4"})"), "did you mean 'weights'");
  refuse(layer(R"({"weights": 4})"), "expected a string");
  refuse(layer(R"({"weights": "int44"})"), "did you mean 'int4'");
  refuse(layer(R"({"smooth": 2})"), "0 to 1");
  refuse(layer(R"({"hadamard": 1})"), "true or false");
  refuse(layer(R"({"delta": "yes"})"), "true or false");
  refuse(layer(R"({"scales": [1, "x"]})"), "finite numbers");
  refuse(layer(R"({"scales": [1e99]})"), "finite numbers");
  refuse(layer(R"({"scales": [1], "zeros": [1, 2]})"), "zeros; got 2");
  refuse(layer(R"({"weights": "int4", "weights": "int8"})"), "twice");
}

}  // namespace
}  // namespace driftless::quant
