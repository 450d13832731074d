// SPDX-License-Identifier: Apache-2.0
#include "driftless/lab/check/bench.h"

#include <algorithm>
#include <chrono>
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
  const int64_t b = shape.boards;
  const int64_t t = model::positions_count(shape.model);
  const int64_t d = shape.model.hidden_size;
  const int64_t it = model::swiglu_inner(t, shape.model.expansion);
  const int64_t id = model::swiglu_inner(d, shape.model.expansion);
  const Work work = block_work(shape);
  const auto options = at::TensorOptions(activation_type(device)).device(device);
  const auto random = [&](at::IntArrayRef sizes) { return at::randn(sizes, options); };
  const double bytes_each = device.is_cuda() ? 2e-9 : 4e-9;  // in 10^9
  const auto time = [&](const char* name, double gflop, int64_t values,
                        const std::function<void()>& call) {
    report({name, median_ms(device, call), gflop, bytes_each * static_cast<double>(values)});
  };
  const at::Tensor h = random({b, t, d});
  const at::Tensor rows = h.view({b * t, d});
  const auto weights = [&](int64_t width, int64_t inner, bool is_transposed) {
    SwigluWeights w{random({2 * inner, width}).to(at::kFloat).set_requires_grad(true),
                    random({width, inner}).to(at::kFloat).set_requires_grad(true),
                    {},
                    {}};
    w.gate_up_copy = w.gate_up.detach().to(options.dtype());
    if (is_transposed) w.gate_up_copy = w.gate_up_copy.t().contiguous();
    w.down_copy = w.down.detach().to(options.dtype());
    return w;
  };
  const SwigluWeights tokens = weights(t, it, true);
  const SwigluWeights channels = weights(d, id, false);
  {
    const at::NoGradGuard no_gradients;
    const at::Tensor up_t = tokens.gate_up_copy.t().unsqueeze(0).expand({b, 2 * it, t});
    const at::Tensor down_t = tokens.down_copy.unsqueeze(0).expand({b, t, it});
    const at::Tensor inner_t = random({b, 2 * it, d});
    const at::Tensor act_t = random({b, it, d});
    const at::Tensor update = random({b, t, d});
    const at::Tensor inner_d = random({b * t, 2 * id});
    const at::Tensor act_d = random({b * t, id});
    const int64_t state = h.numel();
    const int64_t up_weight = tokens.gate_up.numel();
    const int64_t wide_weight = channels.gate_up.numel();
    time("tokens gate_up", work.tokens * 2 / 3, state + up_weight + inner_t.numel(),
         [&] { at::bmm(up_t, h); });
    time("tokens swiglu", 0, inner_t.numel() + act_t.numel(), [&] { swiglu_forward(inner_t, b); });
    time("tokens down", work.tokens / 3, act_t.numel() + up_weight / 2 + state,
         [&] { at::bmm(down_t, act_t); });
    time("tokens norm", 0, 3 * state,
         [&] { residual_norm_forward(h, update, NormAxis::Tokens, 1e-5); });
    time("channels gate_up", work.channels * 2 / 3, state + wide_weight + inner_d.numel(),
         [&] { at::mm(rows, channels.gate_up_copy.t()); });
    time("channels swiglu", 0, inner_d.numel() + act_d.numel(),
         [&] { swiglu_forward(inner_d, b * t); });
    time("channels down", work.channels / 3, act_d.numel() + wide_weight / 2 + state,
         [&] { at::mm(act_d, channels.down_copy.t()); });
    time("channels norm", 0, 3 * state,
         [&] { residual_norm_forward(h, update, NormAxis::Channels, 1e-5); });
    time("mix_tokens forward", work.tokens, 0, [&] { mix_tokens(h, tokens, 1e-5); });
    time("mix_channels forward", work.channels, 0, [&] { mix_channels(h, channels, 1e-5); });
  }
  const at::Tensor leaf = h.detach().set_requires_grad(true);
  const auto both_ways = [&](auto mix, const SwigluWeights& w) {
    torch::autograd::backward({mix(leaf, w, 1e-5, int64_t{0})}, {h});
  };
  time("mix_tokens both ways", 3 * work.tokens, 0, [&] { both_ways(mix_tokens, tokens); });
  time("mix_channels both ways", 3 * work.channels, 0, [&] { both_ways(mix_channels, channels); });
}

}  // namespace driftless::lab
