// SPDX-License-Identifier: Apache-2.0
#include "driftless/lab/check/check.h"

#include <array>
#include <cmath>
#include <vector>

#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/autograd.h>

#include "driftless/lab/check/kit.h"
#include "driftless/lab/check/quantize.h"
#include "driftless/lab/device/ops.h"
#include "driftless/lab/net/sublayers.h"
#include "driftless/lab/optimize/optimizer.h"

namespace driftless::lab {
namespace {

// Bounds on the relative error in the Frobenius norm. Rounding inputs and outputs once costs at
// most half a unit each: 2^-8 in bfloat16, 2^-24 in float32. A sublayer rounds about eight times on
// the way to a gradient; products on CUDA accumulate in float32, and 81 * 256 terms of random sign
// leave that far below the rounding of the operands. __expf adds a few units of 2^-23.
double bound_of(at::ScalarType type, double roundings) {
  return roundings * (type == at::kBFloat16 ? std::ldexp(1.0, -8) : 16 * std::ldexp(1.0, -24));
}

struct Shape {
  int64_t boards;
  int64_t positions;
  int64_t width;
  int64_t inner;
};
constexpr std::array<Shape, 4> kShapes = {
    {{1, 1, 8, 8}, {3, 16, 24, 40}, {5, 81, 256, 256}, {2, 97, 520, 512}}};

// Of a fused mixer: one position, odd positions, widths beyond one tile, two and a remainder.
constexpr std::array<Shape, 8> kFusedShapes = {{{1, 1, 8, 128},
                                                {1, 97, 512, 512},
                                                {3, 16, 24, 128},
                                                {2, 33, 200, 640},
                                                {5, 81, 256, 256},
                                                {1, 64, 264, 384},
                                                {2, 97, 504, 1536},
                                                {3, 128, 72, 256}}};

class Checker {
 public:
  explicit Checker(CheckKit& kit) : kit_(kit) {}

  void run() {
    for (const at::ScalarType type : kit_.types())
      for (const Shape& shape : kShapes) {
        check_swiglu(type, shape);
        for (const NormAxis axis : {NormAxis::Channels, NormAxis::Tokens})
          check_norm(type, shape, axis);
        check_sublayer(type, shape, NormAxis::Channels);
        check_sublayer(type, shape, NormAxis::Tokens);
      }
    for (const Shape& shape : kFusedShapes)
      for (const NormAxis axis : {NormAxis::Channels, NormAxis::Tokens}) {
        check_fused(shape, axis);
        for (const at::ScalarType type : kit_.types()) check_sublayer(type, shape, axis);
      }
    for (const int64_t count : {1, 255, 256, 257, 100003}) check_optimizer(count);
  }

 private:
  static std::string label(const char* what, at::ScalarType type, const Shape& s) {
    return std::string(what) + " " + at::toString(type) + " " + std::to_string(s.boards) + "x" +
           std::to_string(s.positions) + "x" + std::to_string(s.width) + "/" +
           std::to_string(s.inner);
  }

  void check_swiglu(at::ScalarType type, const Shape& s) {
    const at::Tensor gate_up = kit_.random({s.boards * s.positions, 2 * s.inner}, 2);
    const at::Tensor d_act = kit_.random({s.boards * s.positions, s.inner});
    const int64_t rows = gate_up.size(0);
    kit_.compare(label("swiglu forward", type, s), swiglu_forward(kit_.there(gate_up, type), rows),
                 swiglu_forward(gate_up, rows), bound_of(type, 1));
    kit_.compare(label("swiglu backward", type, s),
                 swiglu_backward(kit_.there(gate_up, type), kit_.there(d_act, type), rows),
                 swiglu_backward(gate_up, d_act, rows), bound_of(type, 1));
  }

  void check_norm(at::ScalarType type, const Shape& s, NormAxis axis) {
    const std::vector<int64_t> sizes = {s.boards, s.positions, s.width};
    const at::Tensor h = kit_.random(sizes);
    const at::Tensor update = kit_.random(sizes);
    const at::Tensor d_y = kit_.random(sizes);
    const std::string which = axis == NormAxis::Channels ? "norm channels" : "norm tokens";
    const Normed got =
        residual_norm_forward(kit_.there(h, type), kit_.there(update, type), axis, 1e-5);
    const Normed expected = residual_norm_forward(h, update, axis, 1e-5);
    kit_.compare(label((which + " forward").c_str(), type, s), got.y, expected.y,
                 bound_of(type, 2));
    // A vector of one value has no gradient but eps'; there is nothing to compare.
    if ((axis == NormAxis::Channels ? s.width : s.positions) == 1) return;
    kit_.compare(label((which + " backward").c_str(), type, s),
                 residual_norm_backward(kit_.there(d_y, type), got, axis),
                 residual_norm_backward(d_y, expected, axis), bound_of(type, 4));
  }

  // The sublayer in plain operations, for autograd to differentiate.
  static at::Tensor plain_sublayer(const at::Tensor& h, const at::Tensor& gate_up,
                                   const at::Tensor& down, NormAxis axis) {
    const at::Tensor in = axis == NormAxis::Tokens ? h.transpose(1, 2) : h;
    const at::Tensor inner = at::matmul(in, gate_up.t());
    const int64_t half = down.size(1);
    const at::Tensor act = at::silu(inner.narrow(2, 0, half)) * inner.narrow(2, half, half);
    const at::Tensor s = in + at::matmul(act, down.t());
    const at::Tensor y = s * at::rsqrt((s * s).mean(2, true) + 1e-5);
    return axis == NormAxis::Tokens ? y.transpose(1, 2) : y;
  }

  void check_sublayer(at::ScalarType type, const Shape& s, NormAxis axis) {
    const bool is_tokens = axis == NormAxis::Tokens;
    const int64_t mixed = is_tokens ? s.positions : s.width;
    if (mixed == 1) return;
    const auto leaf = [](const at::Tensor& values) {
      return values.detach().set_requires_grad(true);
    };
    const at::Tensor h = kit_.random({s.boards, s.positions, s.width});
    const at::Tensor gate_up = kit_.random({2 * s.inner, mixed}, 1 / std::sqrt(double(mixed)));
    const at::Tensor down = kit_.random({mixed, s.inner}, 1 / std::sqrt(double(s.inner)));
    const at::Tensor d_y = kit_.random(h.sizes().vec());

    std::array<at::Tensor, 3> want = {leaf(h), leaf(gate_up), leaf(down)};
    const at::Tensor expected = plain_sublayer(want[0], want[1], want[2], axis);
    torch::autograd::backward({expected}, {d_y});

    std::array<at::Tensor, 3> got = {leaf(kit_.there(h, type)),
                                     leaf(kit_.there(gate_up, at::kFloat)),
                                     leaf(kit_.there(down, at::kFloat))};
    const at::Tensor gate_up_copy = kit_.there(gate_up, type);
    const SwigluWeights weights{got[1], got[2],
                                is_tokens ? gate_up_copy.t().contiguous() : gate_up_copy,
                                kit_.there(down, type)};
    const at::Tensor y =
        is_tokens ? mix_tokens(got[0], weights, 1e-5) : mix_channels(got[0], weights, 1e-5);
    torch::autograd::backward({y}, {kit_.there(d_y, type)});

    const std::string which = is_tokens ? "mix_tokens" : "mix_channels";
    kit_.compare(label(which.c_str(), type, s), y, expected, bound_of(type, 4));
    constexpr std::array<const char*, 3> kOf = {" d_h", " d_gate_up", " d_down"};
    for (size_t i = 0; i < got.size(); ++i)
      kit_.compare(label((which + kOf[i]).c_str(), type, s), got[i].grad(), want[i].grad(),
                   bound_of(type, 8));
  }

  // A fused mixer, where the device has it, which runs without gradients only.
  void check_fused(const Shape& s, NormAxis axis) {
    const at::NoGradGuard no_gradients;
    const bool is_tokens = axis == NormAxis::Tokens;
    const int64_t mixed = is_tokens ? s.positions : s.width;
    const at::Tensor h = kit_.random({s.boards, s.positions, s.width});
    const at::Tensor gate_up = kit_.random({2 * s.inner, mixed}, 1 / std::sqrt(double(mixed)));
    const at::Tensor down = kit_.random({mixed, s.inner}, 1 / std::sqrt(double(s.inner)));
    const at::Tensor state = kit_.there(h, at::kBFloat16);
    if (!fuses_mixer(state, s.inner, axis)) return;
    const at::Tensor first =
        kit_.there(is_tokens ? gate_up.t().contiguous() : gate_up, at::kBFloat16);
    const at::Tensor y = mixer_forward(state, first, kit_.there(down, at::kBFloat16), axis, 1e-5).y;
    const std::string which = is_tokens ? "mix_tokens at once" : "mix_channels at once";
    kit_.compare(label(which.c_str(), at::kBFloat16, s), y, plain_sublayer(h, gate_up, down, axis),
                 bound_of(at::kBFloat16, 4));
  }

  void check_optimizer(int64_t count) {
    const OptimizerOptions options;
    const cuda::StepScalars scalars = step_scalars(options, 1e-2, 3);
    const at::Tensor host_scalars =
        at::tensor({scalars.lr, scalars.inverse_bias1, scalars.inverse_root_bias2});
    std::array<OptimizerState, 2> states;
    const at::Tensor start = kit_.random({count}).to(at::kFloat);
    const at::Tensor grads = kit_.random({count}).to(at::kFloat);
    for (size_t i = 0; i < 2; ++i) {
      const at::Device device = i == 0 ? at::Device(at::kCPU) : kit_.device();
      states[i] = fresh_optimizer_state(start.clone().to(device), at::kBFloat16);
      states[i].grads.copy_(grads);
      const at::Tensor skip = at::zeros({}, at::TensorOptions(at::kBool).device(device));
      for (int repeat = 0; repeat < 2; ++repeat)
        optimizer_step(states[i], options, host_scalars.to(device), skip);
    }
    const std::string name = "optimizer " + std::to_string(count);
    const double bound = bound_of(at::kFloat, 2);
    const auto wide = [](const at::Tensor& values) { return values.to(at::kDouble); };
    kit_.compare(name + " values", states[1].values, wide(states[0].values), bound);
    kit_.compare(name + " moment2", states[1].moment2, wide(states[0].moment2), bound);
    kit_.compare(name + " average", states[1].ema, wide(states[0].ema), bound);
    // A value that differs in its last bit may round to the neighboring bfloat16.
    kit_.compare(name + " copy", states[1].copy, wide(states[0].copy), bound_of(at::kBFloat16, 1));
  }

  CheckKit& kit_;
};

}  // namespace

bool check_device(at::Device device, const MakeNative& make_native,
                  const std::function<void(const CheckResult&)>& report) {
  CheckKit kit(device, report);
  Checker(kit).run();
  check_modules(kit);
  check_quantize(kit);
  check_fake_quant(kit);
  if (device.is_cuda()) check_integers(kit, make_native);
  return kit.all_passed();
}

}  // namespace driftless::lab
