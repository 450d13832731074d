// SPDX-License-Identifier: Apache-2.0
#include "driftless/lab/widen.h"

#include <gtest/gtest.h>

#include "driftless/lab/net/recursive_net.h"
#include "driftless/model/shapes.h"

#include "tests/lab/tiny_run.h"
#include "tests/testing/expect_error.h"

namespace driftless::lab {
namespace {

using driftless::testing::expect_error;

model::ModelConfig narrow_config() {
  model::ModelConfig config = testing::tiny_recipe().model;
  config.hidden_size = 64;
  config.expansion = 4;
  config.num_layers = 2;
  return config;
}

StepOutput one_step(const model::ModelConfig& config, const NamedTensors& named) {
  const at::Tensor flat = to_flat(ParameterLayout(config), named, "test");
  const RecursiveNet net(config, {flat, flat, {}}, {named.at("H_init"), named.at("L_init")});
  const at::Tensor tokens = at::arange(32).remainder(5).add(1).to(at::kByte).view({2, 16});
  return net.step(net.initial_states(2), {tokens, {}});
}

TEST(Widen, KeepsTheFunction) {
  const model::ModelConfig config = narrow_config();
  Rng rng(3);
  NamedTensors named = initial_weights(config, rng);
  named["q_head.weight"] = truncated_normal({2, 64}, 0.3, rng);
  const NamedTensors wide = widened_weights(config, named, rng);
  const StepOutput expected = one_step(config, named);
  const StepOutput got = one_step(widened_config(config), wide);
  // Both are float32 sums of at most 512 terms, taken in 2*(2*2+2)*4 products one after the other.
  const double bound = 48 * 512 * 0x1p-24 * expected.logits.abs().max().item<double>();
  EXPECT_LT((got.logits - expected.logits).abs().max().item<double>(), bound);
  EXPECT_LT((got.halt - expected.halt).abs().max().item<double>(),
            bound + 48 * 512 * 0x1p-24 * expected.halt.abs().max().item<double>());
}

TEST(Widen, TwinsReadDifferentWeights) {
  const model::ModelConfig config = narrow_config();
  Rng rng(3);
  const NamedTensors wide = widened_weights(config, initial_weights(config, rng), rng);
  const at::Tensor down = wide.at("L_level.layers.0.mlp.down_proj.weight");
  const int64_t inner = down.size(1) / 2;
  EXPECT_FALSE(at::equal(down.narrow(1, 0, inner), down.narrow(1, inner, inner)));
  for (const model::ParamSpec& spec : model::parameters(widened_config(config)))
    EXPECT_EQ(wide.at(spec.name).sizes(), at::IntArrayRef(spec.shape)) << spec.name;
}

TEST(Widen, RefusesWhatDoesNotDouble) {
  model::ModelConfig config = narrow_config();
  config.hidden_size = 32;
  expect_error(ErrorCode::Unsupported, "inner width doubles", [&] { widened_config(config); });
}

TEST(Widen, LearnedNoiseIsThatOfBothCopiesOfAChannel) {
  model::ModelConfig config = narrow_config();
  config.arch = model::Arch::TrmStochastic;
  Rng rng(3);
  NamedTensors named = initial_weights(config, rng);
  const std::string noise(model::kLogScaleName);
  named[noise] = at::arange(64, at::kFloat);
  const NamedTensors wide = widened_weights(config, named, rng);
  EXPECT_TRUE(at::equal(wide.at(noise), at::cat({named[noise], named[noise]})));
}

}  // namespace
}  // namespace driftless::lab
