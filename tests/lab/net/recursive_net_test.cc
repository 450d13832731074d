// SPDX-License-Identifier: Apache-2.0
// The module against a plain reading of the published recursions, with transposes and autograd.
// Both run in float64: what is compared is structure, so the tolerance is rounding alone.
#include "driftless/lab/net/recursive_net.h"

#include <cmath>
#include <map>
#include <string>
#include <utility>

#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include "driftless/model/shapes.h"

#include "tests/lab/plain_net.h"
#include "tests/lab/tensors.h"
#include "tests/simulate/random_model.h"
#include "tests/testing/expect_error.h"

namespace driftless::lab {
namespace {

using driftless::testing::expect_error;
using simulate::testing::NamedConfig;
using testing::waves;

constexpr int64_t kBoards = 3;
// Some tens of sublayers of unit-scale values in float64, 2^-53 each, amplified by far less than a
// million; float32 outputs are rounded once more.
constexpr double kFloat64Error = 1e-9;
constexpr double kFloat32Error = 1e-6;

double relative_error(const at::Tensor& got, const at::Tensor& expected) {
  return (got.to(at::kDouble) - expected).norm().item<double>() / expected.norm().item<double>();
}

/// A net with random weights in float64, its inputs, and what they are made of.
struct Case {
  explicit Case(const model::ModelConfig& with) : config(with), layout(with) {
    Rng rng(11);
    named = initial_weights(config, rng);
    named["q_head.weight"] = truncated_normal({2, config.hidden_size}, 0.3, rng);
    flat = to_flat(layout, named, "test").to(at::kDouble);
    grads = at::zeros_like(flat);
    const std::vector<int64_t> state = {kBoards, model::positions_count(config),
                                        config.hidden_size};
    start = {waves(state, 0.7), waves(state, 1.3)};
    inputs.tokens = at::arange(kBoards * config.seq_len)
                        .remainder(config.vocab_size)
                        .to(at::kByte)
                        .view({kBoards, config.seq_len});
    if (config.puzzle_emb_len > 0) inputs.puzzles = waves({kBoards, config.puzzle_emb_ndim}, 0.9);
    for (size_t i = 0; i < model::schedule(config).size(); ++i)
      noise.push_back(waves(state, 2.1 + static_cast<double>(i)));
  }

  [[nodiscard]] RecursiveNet net() const {
    if (config.arch == model::Arch::Eqr) return RecursiveNet(config, {flat, flat, grads});
    return RecursiveNet(config, {flat, flat, grads}, {named.at("H_init"), named.at("L_init")});
  }
  [[nodiscard]] StepOptions options(int64_t chunk) const {
    StepOptions made;
    made.chunk = chunk;
    made.noise = [this](int64_t call, int64_t first, int64_t count) {
      return noise[static_cast<size_t>(call)].narrow(0, first, count);
    };
    return made;
  }

  model::ModelConfig config;
  ParameterLayout layout;
  NamedTensors named;
  at::Tensor flat, grads;
  TensorStates start;
  Inputs inputs;
  std::vector<at::Tensor> noise;
};

/// A number that every output has a part in.
at::Tensor mixture(const StepOutput& output) {
  const at::Tensor direction =
      waves(output.logits.sizes().vec(), 1.0).to(output.logits.scalar_type());
  return (output.logits * direction).sum() + output.halt.sum() + 2 * output.go_on.sum();
}

class Net : public ::testing::TestWithParam<NamedConfig> {};

TEST_P(Net, StepAndGradientsEqualThePlainRecursion) {
  Case made(GetParam().config);
  const RecursiveNet net = made.net();
  const bool has_prefix = made.config.puzzle_emb_len > 0;
  if (has_prefix) made.inputs.puzzles.set_requires_grad(true);
  const StepOutput got = net.step(made.start, made.inputs, made.options(2));

  testing::PlainNet plain{made.config, made.named, made.noise};
  for (auto& [name, tensor] : plain.w) tensor = tensor.to(at::kDouble).set_requires_grad(true);
  Inputs plain_inputs{made.inputs.tokens, {}};
  if (has_prefix) plain_inputs.puzzles = made.inputs.puzzles.detach().set_requires_grad(true);
  const StepOutput want = plain.step(made.start.h, made.start.l, plain_inputs);
  EXPECT_LT(relative_error(got.states.h, want.states.h), kFloat64Error);
  EXPECT_LT(relative_error(got.states.l, want.states.l), kFloat64Error);
  EXPECT_LT(relative_error(got.logits, want.logits), kFloat32Error);
  EXPECT_LT(relative_error(got.halt, want.halt), kFloat32Error);
  EXPECT_LT(relative_error(got.go_on, want.go_on), kFloat32Error);

  torch::autograd::backward({mixture(got)}, {});
  torch::autograd::backward({mixture(want)}, {});
  for (const ParameterLayout::Entry& entry : made.layout.entries()) {
    const at::Tensor theirs = plain.w.at(entry.name).grad();
    // Direction and logits of the module are float32.
    EXPECT_LT(relative_error(made.layout.view(made.grads, entry.name), theirs), kFloat32Error)
        << entry.name;
  }
  if (has_prefix) {
    EXPECT_LT(relative_error(made.inputs.puzzles.grad(), plain_inputs.puzzles.grad()),
              kFloat32Error);
  }
}

TEST_P(Net, NeitherChunksNorGradientsChangeTheStep) {
  const Case made(GetParam().config);
  const RecursiveNet net = made.net();
  const StepOutput whole = net.step(made.start, made.inputs, made.options(kBoards));
  EXPECT_TRUE(whole.logits.requires_grad());
  EXPECT_FALSE(whole.states.h.requires_grad());
  const at::NoGradGuard no_gradients;
  for (const int64_t chunk : {int64_t{1}, int64_t{2}, kBoards}) {
    const StepOutput part = net.step(made.start, made.inputs, made.options(chunk));
    EXPECT_LT(relative_error(part.states.h, whole.states.h), kFloat64Error) << chunk;
    EXPECT_LT(relative_error(part.states.l, whole.states.l), kFloat64Error) << chunk;
  }
}

/// Counts what it sees, and halves the input of one layer where told to.
struct CountingTap : StepTap {
  at::Tensor linear_input(std::string_view layer, int64_t call, const at::Tensor& input) override {
    ++inputs[{std::string(layer), call}];
    EXPECT_EQ(input.dim(), 3) << layer;
    columns[std::string(layer)] = input.size(2);
    return layer == halved ? input * 0.5 : input;
  }
  void state(model::State which, int64_t call, const at::Tensor& values) override {
    ++states[{which, call}];
    EXPECT_EQ(values.size(0), kBoards);
  }
  std::map<std::pair<std::string, int64_t>, int64_t> inputs;
  std::map<std::string, int64_t> columns;
  std::map<std::pair<model::State, int64_t>, int64_t> states;
  std::string halved;
};

TEST_P(Net, TapSeesEveryLinearLayerOfEveryCallAndChangesNothing) {
  const Case made(GetParam().config);
  const RecursiveNet net = made.net();
  const StepOutput free = net.step(made.start, made.inputs, made.options(kBoards));
  torch::autograd::backward({mixture(free)}, {});
  const at::Tensor free_grads = made.grads.clone();
  made.grads.zero_();
  CountingTap tap;
  StepOptions options = made.options(1);
  options.tap = &tap;
  const StepOutput seen = net.step(made.start, made.inputs, options);
  torch::autograd::backward({mixture(seen)}, {});
  EXPECT_LT(relative_error(seen.states.h, free.states.h), kFloat64Error);
  EXPECT_LT(relative_error(made.grads, free_grads), kFloat32Error);

  const std::vector<model::NetworkCall> calls = model::schedule(made.config);
  const auto last = std::ssize(calls) - 1;
  int64_t expected = 2;  // the heads
  for (const model::ParamSpec& spec : model::parameters(made.config)) {
    if (spec.shape.size() != 2 || !spec.name.ends_with("_proj.weight")) continue;
    EXPECT_EQ(tap.columns[spec.name], spec.shape[1]) << spec.name;
    for (int64_t call = 0; call <= last; ++call) {
      const auto network = model::networks(
          made.config)[static_cast<size_t>(calls[static_cast<size_t>(call)].network)];
      if (!spec.name.starts_with(network.name + ".")) continue;
      EXPECT_EQ((tap.inputs[{spec.name, call}]), 1) << spec.name << " in call " << call;
      ++expected;
    }
  }
  EXPECT_EQ((tap.inputs[{"lm_head.weight", last}]), 1);
  EXPECT_EQ((tap.inputs[{"q_head.weight", last}]), 1);
  EXPECT_EQ(std::ssize(tap.inputs), expected);
  EXPECT_EQ(std::ssize(tap.states), std::ssize(calls));
}

TEST_P(Net, WhatATapReturnsIsMultiplied) {
  const Case made(GetParam().config);
  const RecursiveNet net = made.net();
  const at::NoGradGuard no_gradients;
  CountingTap tap;
  tap.halved = "lm_head.weight";
  StepOptions options = made.options(kBoards);
  options.tap = &tap;
  const StepOutput half = net.step(made.start, made.inputs, options);
  const StepOutput full = net.step(made.start, made.inputs, made.options(kBoards));
  EXPECT_LT(relative_error(half.logits * 2, full.logits.to(at::kDouble)), kFloat32Error);
  tap.halved = model::layer_name(model::networks(made.config).back(), 0) + ".mlp.down_proj.weight";
  EXPECT_GT(relative_error(net.step(made.start, made.inputs, options).states.h, full.states.h),
            1e-3);
}

INSTANTIATE_TEST_SUITE_P(All, Net, ::testing::ValuesIn(simulate::testing::named_configs()),
                         [](const auto& param) { return param.param.name; });

TEST(RecursiveNet, InitialStatesFollowTheArchitecture) {
  model::ModelConfig config = simulate::testing::named_configs().front().config;
  const TensorStates shared = Case(config).net().initial_states(2);
  EXPECT_TRUE(at::equal(shared.h[0][0], shared.h[1][3]));
  EXPECT_FALSE(at::equal(shared.h, shared.l));
  config.arch = model::Arch::Eqr;
  config.hidden_size = 512;
  config.l_init_std = 2;
  const TensorStates random = Case(config).net().initial_states(20);
  // The standard error of the deviation of 20 * 6 * 512 values is below 0.3 %.
  EXPECT_NEAR(random.h.std().item<double>(), 1, 0.02);
  EXPECT_NEAR(random.l.std().item<double>(), 2, 0.04);
  EXPECT_LE(random.h.abs().max().item<double>(), 2 * 1.1368473);
}

TEST(RecursiveNet, RefusesInputsOfAnotherShape) {
  for (const NamedConfig& named : simulate::testing::named_configs()) {
    Case made(named.config);
    const RecursiveNet net = made.net();
    if (named.config.puzzle_emb_len > 0) {
      made.inputs.puzzles.reset();
      expect_error(ErrorCode::InvalidArgument, "puzzle rows",
                   [&] { static_cast<void>(net.step(made.start, made.inputs, made.options(1))); });
    }
    made.inputs.tokens = at::ones({kBoards, named.config.seq_len + 1}, at::kByte);
    expect_error(ErrorCode::InvalidArgument, "[boards, " + std::to_string(named.config.seq_len),
                 [&] { static_cast<void>(net.step(made.start, made.inputs, made.options(1))); });
  }
}

}  // namespace
}  // namespace driftless::lab
