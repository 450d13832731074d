// SPDX-License-Identifier: Apache-2.0
#include "driftless/lab/net/parameters.h"

#include <cmath>

#include <gtest/gtest.h>

#include "tests/lab/tiny_run.h"
#include "tests/testing/expect_error.h"

namespace driftless::lab {
namespace {

using driftless::testing::expect_error;

model::ModelConfig small_config() {
  model::ModelConfig config = testing::tiny_recipe().model;
  config.num_layers = 2;
  config.h_cycles = 3;
  return config;
}

TEST(Parameters, TruncatedNormalHasItsDeviationAndEdge) {
  Rng rng(2);
  const at::Tensor values = truncated_normal({200000}, 0.5, rng);
  // Standard error of a standard deviation over n values is about std / sqrt(2 n) = 8e-4.
  EXPECT_NEAR(values.std().item<double>(), 0.5, 5e-3);
  EXPECT_LE(values.abs().max().item<double>(), 2 * 0.5 * 1.1368473);
}

TEST(Parameters, InitialWeightsFollowTheRules) {
  Rng rng(3);
  const model::ModelConfig config = small_config();
  const NamedTensors weights = initial_weights(config, rng);
  EXPECT_TRUE(at::equal(weights.at("q_head.bias"), at::full({2}, -5.0f)));
  EXPECT_TRUE(at::equal(weights.at("q_head.weight"), at::zeros({2, 32})));
  EXPECT_NEAR(weights.at("L_level.layers.0.mlp.gate_up_proj.weight").std().item<double>(),
              1 / std::sqrt(32.0), 0.01);
  const at::Tensor init = weights.at("H_init");
  EXPECT_TRUE(at::equal(init, init.to(at::kBFloat16).to(at::kFloat)));
}

TEST(Parameters, FlatAndNamedAreInverse) {
  const model::ModelConfig config = small_config();
  const ParameterLayout layout(config);
  NamedTensors weights = testing::drawn_weights(config, 11);
  const at::Tensor flat = to_flat(layout, weights, "test");
  EXPECT_TRUE(at::equal(flat, to_flat(layout, to_named(layout, flat), "test")));
  expect_error(ErrorCode::InvalidArgument, "nose",
               [&] { static_cast<void>(layout.view(flat, "nose")); });
  weights["lm_head.weight"] = at::zeros({3, 3});
  expect_error(ErrorCode::BadFile, "lm_head.weight", [&] { to_flat(layout, weights, "test"); });
  weights.erase("lm_head.weight");
  expect_error(ErrorCode::BadFile, "no tensor", [&] { to_flat(layout, weights, "test"); });
}

}  // namespace
}  // namespace driftless::lab
