// SPDX-License-Identifier: Apache-2.0
#include "driftless/lab/check/bench.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <vector>

#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/autograd.h>

#include "driftless/lab/device/device.h"
#include "driftless/lab/device/ops.h"
#include "driftless/lab/net/sublayers.h"
#include "driftless/lab/train/trainer.h"
#include "driftless/model/schedule.h"
#include "driftless/model/shapes.h"

namespace driftless::lab {
namespace {

constexpr int kRepetitions = 9;
constexpr int kInner = 10;  // calls per repetition, to bury the cost of waiting for the device

double product_gflop(int64_t m, int64_t n, int64_t k) {
  return 2e-9 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
}

struct Work {
  double tokens;    // GFLOP of one token mixer or attention, forward
  double channels;  // GFLOP of one channel SwiGLU, forward
};
Work block_work(const BenchShape& shape) {
  const int64_t t = model::positions_count(shape.model);
  const int64_t d = shape.model.hidden_size;
  const auto swiglu = [&](int64_t rows, int64_t width) {
    return product_gflop(rows, 3 * model::swiglu_inner(width, shape.model.expansion), width);
  };
  const double tokens = shape.model.mixer == model::Mixer::Tokens
                            ? swiglu(d, t)
                            : product_gflop(t, 4 * d, d) + product_gflop(t, 2 * t, d);
  const auto boards = static_cast<double>(shape.boards);
  return {boards * tokens, boards * swiglu(t, d)};
}

double median_ms(at::Device device, const std::function<void()>& call) {
  const at::Tensor probe = at::zeros({1}, at::TensorOptions(at::kFloat).device(device));
  const auto wait = [&] { static_cast<void>(probe.item<float>()); };
  std::vector<double> times;
  for (int i = 0; i <= kRepetitions; ++i) {
    wait();
    const auto begin = std::chrono::steady_clock::now();
    for (int j = 0; j < kInner; ++j) call();
    wait();
    const std::chrono::duration<double, std::milli> wall = std::chrono::steady_clock::now() - begin;
    if (i > 0) times.push_back(wall.count() / kInner);
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

/// A row of the benchmark.
struct Piece {
  const char* name;
  double gflop;
  int64_t values;  // of its operands and results in device memory; 0 where not counted
  std::function<void()> call;
};

SwigluWeights random_weights(int64_t width, int64_t inner, NormAxis axis,
                             const at::TensorOptions& options) {
  const auto master = [&](at::IntArrayRef sizes) {
    return at::randn(sizes, options).to(at::kFloat).set_requires_grad(true);
  };
  SwigluWeights w{master({2 * inner, width}), master({width, inner}), {}, {}};
  w.gate_up_copy = w.gate_up.detach().to(options.dtype());
  if (axis == NormAxis::Tokens) w.gate_up_copy = w.gate_up_copy.t().contiguous();
  w.down_copy = w.down.detach().to(options.dtype());
  return w;
}

/// The operations of a token mixer apart, on states h [B, T, D].
std::vector<Piece> token_pieces(const at::Tensor& h, const SwigluWeights& weights, double gflop) {
  const int64_t b = h.size(0), t = h.size(1), d = h.size(2), inner = weights.down.size(1);
  const at::Tensor up = weights.gate_up_copy.t().unsqueeze(0).expand({b, 2 * inner, t});
  const at::Tensor down = weights.down_copy.unsqueeze(0).expand({b, t, inner});
  const at::Tensor gate_up = at::randn({b, 2 * inner, d}, h.options());
  const at::Tensor act = at::randn({b, inner, d}, h.options());
  const at::Tensor update = at::randn_like(h);
  const int64_t state = h.numel(), weight = weights.gate_up.numel();
  return {
      {"tokens gate_up", gflop * 2 / 3, state + weight + gate_up.numel(), [=] { at::bmm(up, h); }},
      {"tokens swiglu", 0, gate_up.numel() + act.numel(), [=] { swiglu_forward(gate_up, b); }},
      {"tokens down", gflop / 3, act.numel() + weight / 2 + state, [=] { at::bmm(down, act); }},
      {"tokens norm", 0, 3 * state,
       [=] { residual_norm_forward(h, update, NormAxis::Tokens, 1e-5); }}};
}

/// Those of a channel mixer.
std::vector<Piece> channel_pieces(const at::Tensor& h, const SwigluWeights& weights, double gflop) {
  const int64_t count = h.size(0) * h.size(1), inner = weights.down.size(1);
  const at::Tensor rows = h.view({count, h.size(2)});
  const at::Tensor up = weights.gate_up_copy.t();
  const at::Tensor down = weights.down_copy.t();
  const at::Tensor gate_up = at::randn({count, 2 * inner}, h.options());
  const at::Tensor act = at::randn({count, inner}, h.options());
  const at::Tensor update = at::randn_like(h);
  const int64_t state = h.numel(), weight = weights.gate_up.numel();
  return {
      {"channels gate_up", gflop * 2 / 3, state + weight + gate_up.numel(),
       [=] { at::mm(rows, up); }},
      {"channels swiglu", 0, gate_up.numel() + act.numel(),
       [=] { swiglu_forward(gate_up, count); }},
      {"channels down", gflop / 3, act.numel() + weight / 2 + state, [=] { at::mm(act, down); }},
      {"channels norm", 0, 3 * state,
       [=] { residual_norm_forward(h, update, NormAxis::Channels, 1e-5); }}};
}

}  // namespace

double step_gflop(const BenchShape& shape) {
  const Work work = block_work(shape);
  const std::vector<model::Network> networks = model::networks(shape.model);
  // The continue logit is trained on one more step.
  const bool looks_ahead = model::architecture(shape.model).halting == model::HaltRule::Lead;
  int64_t blocks = 0;
  for (const model::NetworkCall& call : model::schedule(shape.model)) {
    const int64_t passes = (call.has_gradient ? 3 : 1) + (looks_ahead ? 1 : 0);
    blocks += passes * networks[static_cast<size_t>(call.network)].num_layers;
  }
  return static_cast<double>(blocks) * (work.tokens + work.channels);
}

double measured_peak_gflops(at::Device device) {
  const at::NoGradGuard no_gradients;
  const int64_t side = device.is_cuda() ? 8192 : 1024;
  const auto options = at::TensorOptions(activation_type(device)).device(device);
  const at::Tensor a = at::randn({side, side}, options);
  const at::Tensor b = at::randn({side, side}, options);
  return 1e3 * product_gflop(side, side, side) / median_ms(device, [&] { at::mm(a, b); });
}

void bench_pieces(const BenchShape& shape, at::Device device,
                  const std::function<void(const BenchResult&)>& report) {
  if (shape.model.mixer != model::Mixer::Tokens) return;
  const int64_t t = model::positions_count(shape.model);
  const int64_t d = shape.model.hidden_size;
  const Work work = block_work(shape);
  const auto options = at::TensorOptions(activation_type(device)).device(device);
  const auto inner = [&](int64_t width) {
    return model::swiglu_inner(width, shape.model.expansion);
  };
  const at::Tensor h = at::randn({shape.boards, t, d}, options);
  const SwigluWeights tokens = random_weights(t, inner(t), NormAxis::Tokens, options);
  const SwigluWeights channels = random_weights(d, inner(d), NormAxis::Channels, options);
  const double bytes_each = device.is_cuda() ? 2e-9 : 4e-9;  // in 10^9
  const auto time = [&](const std::vector<Piece>& pieces) {
    for (const Piece& piece : pieces)
      report({piece.name, median_ms(device, piece.call), piece.gflop,
              bytes_each * static_cast<double>(piece.values)});
  };
  {
    const at::NoGradGuard no_gradients;
    time(token_pieces(h, tokens, work.tokens));
    time(channel_pieces(h, channels, work.channels));
    time({{"mix_tokens forward", work.tokens, 0, [&] { mix_tokens(h, tokens, 1e-5); }},
          {"mix_channels forward", work.channels, 0, [&] { mix_channels(h, channels, 1e-5); }}});
  }
  const at::Tensor leaf = h.detach().set_requires_grad(true);
  const auto both_ways = [&](auto mix, const SwigluWeights& w) {
    torch::autograd::backward({mix(leaf, w, 1e-5, int64_t{0})}, {h});
  };
  time({{"mix_tokens both ways", 3 * work.tokens, 0, [&] { both_ways(mix_tokens, tokens); }},
        {"mix_channels both ways", 3 * work.channels, 0,
         [&] { both_ways(mix_channels, channels); }}});
}

}  // namespace driftless::lab
