// SPDX-License-Identifier: Apache-2.0
// The module against a plain reading of the published recursion, with transposes and autograd.
#include "driftless/lab/trm.h"

#include <cmath>
#include <string>

#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include "driftless/lab/evaluate.h"
#include "driftless/lab/parameters.h"

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

NamedTensors random_weights(const model::ModelConfig& config) {
  Rng rng(11);
  NamedTensors weights = initial_weights(config, rng);
  weights["q_head.weight"] = truncated_normal({2, config.hidden_size}, 0.3, rng);
  return weights;
}

at::Tensor rms_norm(const at::Tensor& x) { return x / at::sqrt((x * x).mean(-1, true) + 1e-5); }

at::Tensor swiglu(const at::Tensor& x, const at::Tensor& gate_up, const at::Tensor& down) {
  const auto halves = at::matmul(x, gate_up.t()).chunk(2, -1);
  return at::matmul(at::silu(halves[0]) * halves[1], down.t());
}

struct Reference {
  model::ModelConfig config;
  NamedTensors w;

  at::Tensor net(at::Tensor h) {
    for (int64_t i = 0; i < config.num_layers; ++i) {
      const std::string layer = "L_level.layers." + std::to_string(i);
      const auto weight = [&](const char* name) { return w.at(layer + name); };
      at::Tensor t = h.transpose(1, 2);
      t = rms_norm(
          t + swiglu(t, weight(".mlp_t.gate_up_proj.weight"), weight(".mlp_t.down_proj.weight")));
      h = t.transpose(1, 2);
      h = rms_norm(h +
                   swiglu(h, weight(".mlp.gate_up_proj.weight"), weight(".mlp.down_proj.weight")));
    }
    return h;
  }

  StepOutput step(at::Tensor z_h, at::Tensor z_l, const at::Tensor& tokens) {
    const at::Tensor x = w.at("embed_tokens.embedding_weight").index({tokens.to(at::kLong)}) *
                         std::sqrt(static_cast<double>(config.hidden_size));
    for (int64_t round = 0; round < config.h_cycles; ++round) {
      if (round + 1 == config.h_cycles) {
        z_h = z_h.detach();
        z_l = z_l.detach();
      }
      for (int64_t i = 0; i < config.l_cycles; ++i) z_l = net(z_l + (z_h + x));
      z_h = net(z_h + z_l);
    }
    const at::Tensor q =
        at::matmul(z_h.select(1, 0), w.at("q_head.weight").t()) + w.at("q_head.bias");
    return {{z_h, z_l}, at::matmul(z_h, w.at("lm_head.weight").t()), q.select(1, 0)};
  }
};

at::Tensor some_tokens(int64_t boards) {
  return at::arange(boards * 16).remainder(5).add(1).to(at::kByte).view({boards, 16});
}

TEST(Trm, StepAndGradientsEqualThePlainRecursion) {
  const model::ModelConfig config = small_config();
  const Layout layout(config);
  const NamedTensors weights = random_weights(config);
  const at::Tensor flat = to_flat(layout, weights, "test");
  const at::Tensor grads = at::zeros_like(flat);
  const Trm trm(config, {flat, flat, grads}, {weights.at("H_init"), weights.at("L_init")});
  const at::Tensor tokens = some_tokens(3);
  const States start = trm.initial_states(3);
  const StepOutput got = trm.step(start, tokens, 3);

  Reference reference{config, weights};
  for (auto& [name, tensor] : reference.w) tensor = tensor.to(at::kDouble).set_requires_grad(true);
  const StepOutput want = reference.step(start.h.to(at::kDouble), start.l.to(at::kDouble), tokens);
  // float32 through 3 * 3 * 2 blocks of unit-scale states: observed 1e-6, each block may add a few
  // units of 2^-23 and amplify by at most a small factor.
  EXPECT_TRUE(at::allclose(got.logits.to(at::kDouble), want.logits, 1e-4, 1e-4));
  EXPECT_TRUE(at::allclose(got.halt.to(at::kDouble), want.halt, 1e-4, 1e-4));
  EXPECT_TRUE(at::allclose(got.states.l.to(at::kDouble), want.states.l, 1e-4, 1e-4));

  const at::Tensor direction =
      at::sin(at::arange(got.logits.numel(), at::kFloat)).view_as(got.logits);
  torch::autograd::backward({(got.logits * direction).sum() + got.halt.sum()}, {});
  torch::autograd::backward({(want.logits * direction).sum() + want.halt.sum()}, {});
  for (const Layout::Entry& entry : layout.entries()) {
    const at::Tensor mine = layout.view(grads, entry.name).to(at::kDouble);
    const at::Tensor theirs = reference.w.at(entry.name).grad();
    EXPECT_LT((mine - theirs).norm().item<double>(), 1e-4 * theirs.norm().item<double>())
        << entry.name;
  }
}

TEST(Trm, RefusesModelsItDoesNotHave) {
  model::ModelConfig attention = small_config();
  attention.mixer = model::Mixer::Attention;
  const at::Tensor flat = at::zeros({Layout(attention).size()});
  const at::Tensor init = at::zeros({attention.hidden_size});
  expect_error(ErrorCode::Unsupported, "attention", [&] {
    Trm trm(attention, {flat, flat, {}}, {init, init});
  });
}

TEST(Trm, RefusesInputsOfAnotherSize) {
  const model::ModelConfig config = small_config();
  const NamedTensors weights = random_weights(config);
  const at::Tensor flat = to_flat(Layout(config), weights, "test");
  const Trm trm(config, {flat, flat, {}}, {weights.at("H_init"), weights.at("L_init")});
  expect_error(ErrorCode::InvalidArgument, "[boards, 16]", [&] {
    static_cast<void>(trm.step(trm.initial_states(1), at::ones({1, 81}, at::kByte), 1));
  });
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
  const Layout layout(config);
  NamedTensors weights = random_weights(config);
  const at::Tensor flat = to_flat(layout, weights, "test");
  EXPECT_TRUE(at::equal(flat, to_flat(layout, to_named(layout, flat), "test")));
  expect_error(ErrorCode::InvalidArgument, "nose",
               [&] { static_cast<void>(layout.view(flat, "nose")); });
  weights["lm_head.weight"] = at::zeros({3, 3});
  expect_error(ErrorCode::BadFile, "lm_head.weight", [&] { to_flat(layout, weights, "test"); });
  weights.erase("lm_head.weight");
  expect_error(ErrorCode::BadFile, "no tensor", [&] { to_flat(layout, weights, "test"); });
}

TEST(Evaluate, CountsBoardsAndCells) {
  const model::ModelConfig config = small_config();
  NamedTensors weights = random_weights(config);
  const at::Tensor flat = to_flat(Layout(config), weights, "test");
  const Trm trm(config, {flat, flat, {}}, {weights.at("H_init"), weights.at("L_init")});
  const auto boards = testing::tiny_boards(7, 4);
  EvaluateOptions options;
  options.steps = 2;
  options.batch = 3;
  options.chunk = 2;
  const Score score = evaluate(trm, boards, options);
  EXPECT_EQ(score.boards, 7);
  EXPECT_LE(score.exact * 16, score.right_cells);
  EXPECT_LE(score.right_cells, 7 * 16);
  options.batch = 7;
  EXPECT_EQ(evaluate(trm, boards, options).right_cells, score.right_cells);
  expect_error(ErrorCode::InvalidArgument, "0 boards", [&] { evaluate(trm, {}, options); });
}

TEST(Evaluate, WilsonIntervalOfKnownCases) {
  // 50 of 100: 0.5 -+ 1.96 * sqrt(0.25 / 100 + 1.96^2 / 40000) / (1 + 1.96^2 / 100)
  EXPECT_NEAR(wilson_interval(50, 100).low, 0.40383, 1e-5);
  EXPECT_NEAR(wilson_interval(50, 100).high, 0.59617, 1e-5);
  EXPECT_NEAR(wilson_interval(0, 10).low, 0.0, 1e-12);
  expect_error(ErrorCode::InvalidArgument, "5 of 4", [] { wilson_interval(5, 4); });
}

}  // namespace
}  // namespace driftless::lab
