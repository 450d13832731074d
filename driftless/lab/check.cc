// SPDX-License-Identifier: Apache-2.0
#include "driftless/lab/check.h"

#include <array>
#include <cmath>
#include <vector>

#include <torch/csrc/autograd/autograd.h>

#include "driftless/base/rng.h"
#include "driftless/lab/ops.h"
#include "driftless/lab/optimizer.h"
#include "driftless/lab/sublayers.h"

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

class Checker {
 public:
  Checker(at::Device device, const std::function<void(const CheckResult&)>& report)
      : device_(device), report_(report) {}

  bool run() {
    // A CPU trains in float32 alone.
    std::vector<at::ScalarType> types = {at::kFloat};
    if (device_.is_cuda()) types.push_back(at::kBFloat16);
    for (const at::ScalarType type : types)
      for (const Shape& shape : kShapes) {
        check_swiglu(type, shape);
        for (const NormAxis axis : {NormAxis::Channels, NormAxis::Tokens})
          check_norm(type, shape, axis);
        check_sublayer(type, shape, NormAxis::Channels);
        check_sublayer(type, shape, NormAxis::Tokens);
      }
    for (const int64_t count : {1, 255, 256, 257, 100003}) check_optimizer(count);
    return all_passed_;
  }

 private:
  // Random values that both types hold exactly, in float64 on the CPU.
  at::Tensor random(const std::vector<int64_t>& sizes, double scale = 1) {
    at::Tensor values = at::empty(sizes, at::kDouble);
    double* data = values.data_ptr<double>();
    for (int64_t i = 0; i < values.numel(); ++i) data[i] = scale * rng_.gaussian();
    return values.to(at::kBFloat16).to(at::kDouble);
  }
  at::Tensor there(const at::Tensor& values, at::ScalarType type) const {
    return values.to(type).to(device_);
  }

  void compare(const std::string& name, const at::Tensor& got, const at::Tensor& expected,
               double bound) {
    const at::Tensor mine = got.detach().to(at::kCPU).to(at::kDouble).reshape(expected.sizes());
    const double size = expected.norm().item<double>();
    const CheckResult result{name, (mine - expected).norm().item<double>() / size, bound};
    all_passed_ = all_passed_ && result.passed();
    report_(result);
  }

  static std::string label(const char* what, at::ScalarType type, const Shape& s) {
    return std::string(what) + " " + at::toString(type) + " " + std::to_string(s.boards) + "x" +
           std::to_string(s.positions) + "x" + std::to_string(s.width) + "/" +
           std::to_string(s.inner);
  }

  void check_swiglu(at::ScalarType type, const Shape& s) {
    const at::Tensor gate_up = random({s.boards * s.positions, 2 * s.inner}, 2);
    const at::Tensor d_act = random({s.boards * s.positions, s.inner});
    const int64_t rows = gate_up.size(0);
    compare(label("swiglu forward", type, s), swiglu_forward(there(gate_up, type), rows),
            swiglu_forward(gate_up, rows), bound_of(type, 1));
    compare(label("swiglu backward", type, s),
            swiglu_backward(there(gate_up, type), there(d_act, type), rows),
            swiglu_backward(gate_up, d_act, rows), bound_of(type, 1));
  }

  void check_norm(at::ScalarType type, const Shape& s, NormAxis axis) {
    const std::vector<int64_t> sizes = {s.boards, s.positions, s.width};
    const at::Tensor h = random(sizes);
    const at::Tensor update = random(sizes);
    const at::Tensor d_y = random(sizes);
    const std::string which = axis == NormAxis::Channels ? "norm channels" : "norm tokens";
    const Normed got = residual_norm_forward(there(h, type), there(update, type), axis, 1e-5);
    const Normed expected = residual_norm_forward(h, update, axis, 1e-5);
    compare(label((which + " forward").c_str(), type, s), got.y, expected.y, bound_of(type, 2));
    // A vector of one value has no gradient but eps'; there is nothing to compare.
    if ((axis == NormAxis::Channels ? s.width : s.positions) == 1) return;
    compare(label((which + " backward").c_str(), type, s),
            residual_norm_backward(there(d_y, type), got, axis),
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
    const at::Tensor h = random({s.boards, s.positions, s.width});
    const at::Tensor gate_up = random({2 * s.inner, mixed}, 1 / std::sqrt(double(mixed)));
    const at::Tensor down = random({mixed, s.inner}, 1 / std::sqrt(double(s.inner)));
    const at::Tensor d_y = random(h.sizes().vec());

    std::array<at::Tensor, 3> want = {leaf(h), leaf(gate_up), leaf(down)};
    const at::Tensor expected = plain_sublayer(want[0], want[1], want[2], axis);
    torch::autograd::backward({expected}, {d_y});

    std::array<at::Tensor, 3> got = {leaf(there(h, type)), leaf(there(gate_up, at::kFloat)),
                                     leaf(there(down, at::kFloat))};
    const at::Tensor gate_up_copy = there(gate_up, type);
    const SwigluWeights weights{got[1], got[2],
                                is_tokens ? gate_up_copy.t().contiguous() : gate_up_copy,
                                there(down, type)};
    const at::Tensor y =
        is_tokens ? mix_tokens(got[0], weights, 1e-5) : mix_channels(got[0], weights, 1e-5);
    torch::autograd::backward({y}, {there(d_y, type)});

    const std::string which = is_tokens ? "mix_tokens" : "mix_channels";
    compare(label(which.c_str(), type, s), y, expected, bound_of(type, 4));
    constexpr std::array<const char*, 3> kOf = {" d_h", " d_gate_up", " d_down"};
    for (size_t i = 0; i < got.size(); ++i)
      compare(label((which + kOf[i]).c_str(), type, s), got[i].grad(), want[i].grad(),
              bound_of(type, 8));
  }

  void check_optimizer(int64_t count) {
    const OptimizerOptions options;
    const cuda::StepScalars scalars = step_scalars(options, 1e-2, 3);
    const at::Tensor host_scalars =
        at::tensor({scalars.lr, scalars.inverse_bias1, scalars.inverse_root_bias2});
    std::array<OptimizerState, 2> states;
    const at::Tensor start = random({count}).to(at::kFloat);
    const at::Tensor grads = random({count}).to(at::kFloat);
    for (size_t i = 0; i < 2; ++i) {
      const at::Device device = i == 0 ? at::Device(at::kCPU) : device_;
      states[i] = fresh_optimizer_state(start.clone().to(device), at::kBFloat16);
      states[i].grads.copy_(grads);
      const at::Tensor skip = at::zeros({}, at::TensorOptions(at::kBool).device(device));
      for (int repeat = 0; repeat < 2; ++repeat)
        optimizer_step(states[i], options, host_scalars.to(device), skip);
    }
    const std::string name = "optimizer " + std::to_string(count);
    const double bound = bound_of(at::kFloat, 2);
    const auto wide = [](const at::Tensor& values) { return values.to(at::kDouble); };
    compare(name + " values", states[1].values, wide(states[0].values), bound);
    compare(name + " moment2", states[1].moment2, wide(states[0].moment2), bound);
    compare(name + " average", states[1].ema, wide(states[0].ema), bound);
    // A value that differs in its last bit may round to the neighboring bfloat16.
    compare(name + " copy", states[1].copy, wide(states[0].copy), bound_of(at::kBFloat16, 1));
  }

  at::Device device_;
  const std::function<void(const CheckResult&)>& report_;
  Rng rng_{20};
  bool all_passed_ = true;
};

}  // namespace

bool check_device(at::Device device, const std::function<void(const CheckResult&)>& report) {
  return Checker(device, report).run();
}

}  // namespace driftless::lab
