// SPDX-License-Identifier: Apache-2.0
#include "driftless/lab/widen.h"

#include <cmath>
#include <string>

#include <gtest/gtest.h>

#include "driftless/lab/net/recursive_net.h"
#include "driftless/lab/train/trainer.h"
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

class WidenBy : public ::testing::TestWithParam<Split> {};
INSTANTIATE_TEST_SUITE_P(Splits, WidenBy, ::testing::ValuesIn(kSplits),
                         [](const auto& split) { return std::string(split.param.name); });

TEST_P(WidenBy, KeepsTheFunction) {
  const model::ModelConfig config = narrow_config();
  Rng rng(3);
  NamedTensors named = initial_weights(config, rng);
  named["q_head.weight"] = truncated_normal({2, 64}, 0.3, rng);
  const NamedTensors wide = widened_weights(config, named, GetParam(), rng);
  const StepOutput expected = one_step(config, named);
  const StepOutput got = one_step(widened_config(config), wide);
  // Both are float32 sums of at most 512 terms, taken in 2*(2*2+2)*4 products one after the other.
  const double bound = 48 * 512 * 0x1p-24 * expected.logits.abs().max().item<double>();
  EXPECT_LT((got.logits - expected.logits).abs().max().item<double>(), bound);
  EXPECT_LT((got.halt - expected.halt).abs().max().item<double>(),
            bound + 48 * 512 * 0x1p-24 * expected.halt.abs().max().item<double>());
}

TEST_P(WidenBy, TwinsReadDifferentWeights) {
  const model::ModelConfig config = narrow_config();
  Rng rng(3);
  const NamedTensors wide = widened_weights(config, initial_weights(config, rng), GetParam(), rng);
  const at::Tensor down = wide.at("L_level.layers.0.mlp.down_proj.weight");
  const int64_t inner = down.size(1) / 2;
  EXPECT_FALSE(at::equal(down.narrow(1, 0, inner), down.narrow(1, inner, inner)));
  for (const model::ParamSpec& spec : model::parameters(widened_config(config)))
    EXPECT_EQ(wide.at(spec.name).sizes(), at::IntArrayRef(spec.shape)) << spec.name;
}

TEST_P(WidenBy, GradientsTellTwinsApart) {
  Recipe recipe = testing::tiny_recipe();
  recipe.model = widened_config(narrow_config());
  Rng rng(3);
  const NamedTensors wide =
      widened_weights(narrow_config(), initial_weights(narrow_config(), rng), GetParam(), rng);
  Trainer trainer(recipe, testing::tiny_pool(), {fresh_run(recipe, wide, at::kCPU), std::nullopt},
                  {});
  trainer.step();
  const at::Tensor grads =
      ParameterLayout(recipe.model)
          .view(trainer.state().optimizer.grads, "L_level.layers.0.mlp.down_proj.weight");
  // Rows write channels, whose copies differ in who reads them alone.
  const int64_t width = grads.size(0) / 2;
  const at::Tensor first = grads.narrow(0, 0, width);
  const double difference = (first - grads.narrow(0, width, width)).norm().item<double>();
  RecordProperty("relative", std::to_string(difference / first.norm().item<double>()));
  // Rounding of equal gradients: sums of batch, positions and readers, fewer than 2^15 terms.
  EXPECT_GT(difference, 0x1p15 * 0x1p-24 * first.norm().item<double>());
}

TEST(Widen, AnEvenSplitKeepsTails) {
  const model::ModelConfig config = narrow_config();
  Rng rng(3);
  const NamedTensors named = initial_weights(config, rng);
  const Tails before = split_tails(config, named, named);
  const auto after = [&](const char* split) {
    return split_tails(config, named, widened_weights(config, named, find_split(split), rng));
  };
  // In units of a matrix's root mean square, its weights w become w / 2 + n and w / 2 - n with
  // |n| <= 2.28 / 16: fourth moments of w^4 / 16 + 3/2 w^2 n^2 + n^4, squares of at least a
  // quarter.
  constexpr double kMost = 2.28 / 16;
  const Tails even = after("even");
  EXPECT_LT(even.kurtosis, before.kurtosis + 24 * kMost * kMost + 16 * std::pow(kMost, 4));
  EXPECT_LT(even.largest, before.largest + 2 * kMost);
  const Tails random = after("random");
  EXPECT_GT(random.kurtosis, before.kurtosis * 2);
  EXPECT_GT(random.largest, before.largest * 1.5);
  expect_error(ErrorCode::InvalidArgument, "got 'odd', expected random or even",
               [&] { find_split("odd"); });
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
  const NamedTensors wide = widened_weights(config, named, kSplits[0], rng);
  EXPECT_TRUE(at::equal(wide.at(noise), at::cat({named[noise], named[noise]})));
}

}  // namespace
}  // namespace driftless::lab
