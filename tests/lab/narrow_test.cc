// SPDX-License-Identifier: Apache-2.0
#include "driftless/lab/narrow.h"

#include <gtest/gtest.h>

#include "driftless/model/shapes.h"

#include "tests/lab/tiny_run.h"
#include "tests/testing/expect_error.h"

namespace driftless::lab {
namespace {

using driftless::testing::expect_error;

model::ModelConfig wide_config() {
  model::ModelConfig config = testing::tiny_recipe().model;
  config.hidden_size = 128;
  config.expansion = 4;  // inner width 512
  config.num_layers = 2;
  return config;
}

TEST(Narrow, ChannelsAndNeuronsThatWeighNothingAreDropped) {
  const model::ModelConfig config = wide_config();
  NamedTensors named = testing::drawn_weights(config, 3);
  const model::ModelConfig narrow = narrowed_config(config, {96, 3});  // inner width 256
  // Channels 3, 6, 9, ... 96 weigh nothing; neurons from 256 on have small down weights.
  const at::Tensor dead = at::arange(1, 33) * 3;
  for (auto& [name, tensor] : named) {
    if (name.ends_with(".mlp.gate_up_proj.weight") || name == "lm_head.weight" ||
        name.ends_with("embedding_weight"))
      tensor.index_fill_(1, dead, 0);
    if (name.ends_with(".mlp.down_proj.weight")) {
      tensor.index_fill_(0, dead, 0);
      tensor.slice(1, 256).mul_(0x1p-20);
    }
  }
  const NamedTensors kept = narrowed_weights(config, named, narrow);
  std::vector<int64_t> alive;
  for (int64_t i = 0; i < 128; ++i)
    if (i % 3 != 0 || i == 0 || i > 96) alive.push_back(i);
  const at::Tensor channels = at::tensor(alive);
  ASSERT_EQ(channels.size(0), 96);
  EXPECT_TRUE(at::equal(kept.at("H_init"), named.at("H_init").index_select(0, channels)));

  // Nothing but zeros is left out of what reads channels, so the sums of squares ask for no scale
  // but rounding's.
  const at::Tensor gate_up = named.at("L_level.layers.0.mlp.gate_up_proj.weight");
  const at::Tensor rows = at::cat({gate_up.slice(0, 0, 256), gate_up.slice(0, 512, 768)});
  const at::Tensor got = kept.at("L_level.layers.0.mlp.gate_up_proj.weight");
  const at::Tensor expected = rows.index_select(1, channels);
  ASSERT_EQ(got.sizes(), expected.sizes());
  // Two norms of 512 * 128 terms, summed in float32 in any order.
  const double bound = 2 * 512 * 128 * 0x1p-24;
  EXPECT_LE(((got - expected) / expected).abs().max().item<double>(), bound);
}

TEST(Narrow, RowsKeepTheirSumOfSquares) {
  const model::ModelConfig config = wide_config();
  const NamedTensors named = testing::drawn_weights(config, 3);
  const model::ModelConfig narrow = narrowed_config(config, {32, 0});
  const NamedTensors kept = narrowed_weights(config, named, narrow);
  const double bound = 2 * 11 * 128 * 0x1p-24;
  EXPECT_NEAR(kept.at("lm_head.weight").norm().item<double>() /
                  named.at("lm_head.weight").norm().item<double>(),
              1, bound);
  for (const model::ParamSpec& spec : model::parameters(narrow))
    EXPECT_EQ(kept.at(spec.name).sizes(), at::IntArrayRef(spec.shape)) << spec.name;
}

// Initial states and learned noise have a value a channel.
TEST(Narrow, LearnedNoiseStaysWithItsChannel) {
  model::ModelConfig config = wide_config();
  config.arch = model::Arch::TrmStochastic;
  NamedTensors named = testing::drawn_weights(config, 3);
  const std::string noise(model::kLogScaleName);
  named["H_init"] = named[noise] = at::arange(128, at::kFloat);
  const NamedTensors kept = narrowed_weights(config, named, narrowed_config(config, {32, 0}));
  EXPECT_EQ(kept.at(noise).size(0), 32);
  EXPECT_TRUE(at::equal(kept.at(noise), kept.at("H_init")));
}

TEST(Narrow, RefusesWhatWouldGrowOrIsNoTokenMixer) {
  model::ModelConfig config = wide_config();
  expect_error(ErrorCode::InvalidArgument, "expected at most 128", [&] {
    narrowed_config(config, {129, 0});
  });
  expect_error(ErrorCode::InvalidArgument, "expected at most", [&] {
    narrowed_config(config, {64, 5});
  });
  config.mixer = model::Mixer::Attention;
  expect_error(ErrorCode::Unsupported, "token mixer", [&] { narrowed_config(config, {64, 0}); });
}

}  // namespace
}  // namespace driftless::lab
