// SPDX-License-Identifier: Apache-2.0
#include "driftless/lab/quant/fake_quant.h"

#include <array>
#include <cmath>
#include <string>

#include "driftless/lab/check/kit.h"

namespace driftless::lab {
namespace {

constexpr std::array<const char*, 12> kDynamic = {"mxint2",
                                                  "mxint3",
                                                  "mxint4",
                                                  "mxint8",
                                                  "mxfp4",
                                                  "mxfp8_e4m3",
                                                  "mxint4,rule=rceil",
                                                  "mxint4,rule=mse",
                                                  "int4/tensor",
                                                  "int8/token",
                                                  "int4/group32",
                                                  "nvfp4"};
constexpr std::array<const char*, 3> kStatic = {"int4/tensor/static", "int3/tensor/static",
                                                "fp4_e2m1/tensor/static"};

struct Shape {
  int64_t boards;
  int64_t positions;
  int64_t width;
};
constexpr std::array<Shape, 3> kShapes = {{{1, 16, 32}, {3, 81, 256}, {2, 97, 520}}};

/// The quantizer as the device and as the CPU have it.
struct Pair {
  FakeQuantizer there;
  FakeQuantizer here;
  at::Tensor there_grads = {};
  at::Tensor here_grads = {};
};

class FakeQuantChecker {
 public:
  explicit FakeQuantChecker(CheckKit& kit) : kit_(kit) {}

  void run() {
    for (const at::ScalarType type : kit_.types())
      for (const Shape& shape : kShapes)
        for (const NormAxis axis : {NormAxis::Channels, NormAxis::Tokens}) {
          for (const char* text : kDynamic) {
            const quant::QuantSpec spec = quant::parse_quant_spec(text);
            check({FakeQuantizer(spec), FakeQuantizer(spec)}, type, shape, axis);
          }
          for (const char* text : kStatic) check(learned(text), type, shape, axis);
        }
  }

 private:
  [[nodiscard]] Pair learned(const char* text) const {
    const quant::QuantSpec spec = quant::parse_quant_spec(text);
    const at::Tensor scales = at::full({1}, 0.3f, at::kFloat);
    const at::Tensor grads = at::zeros({1}, at::kFloat);
    const at::Tensor there_grads =
        at::zeros({1}, at::TensorOptions(at::kFloat).device(kit_.device()));
    return {FakeQuantizer(spec, {scales.to(kit_.device()), there_grads}),
            FakeQuantizer(spec, {scales, grads}), there_grads, grads};
  }

  void check(const Pair& pair, at::ScalarType type, const Shape& s, NormAxis axis) {
    const std::string name = "fake quant " + to_string(pair.here.spec()) + " " +
                             at::toString(type) + " " + std::to_string(s.width) +
                             (axis == NormAxis::Channels ? " channels" : " tokens");
    const std::vector<int64_t> sizes = {s.boards, s.positions, s.width};
    // Outliers clip; values of either type are exact in float32.
    at::Tensor x = kit_.random(sizes);
    x = (x * x * x).to(at::kBFloat16).to(at::kFloat);
    const at::Tensor d = kit_.random(sizes).to(at::kFloat);
    const at::Tensor x_there = kit_.there(x, type);
    const at::Tensor d_there = kit_.there(d, type);
    const auto rounded = [&](const at::Tensor& values) { return values.to(type).to(at::kDouble); };
    kit_.compare(name, pair.there.forward(x_there, axis), rounded(pair.here.forward(x, axis)), 0);
    kit_.compare(name + " backward", pair.there.backward(x_there, d_there, axis),
                 rounded(pair.here.backward(x, d, axis)), 0);
    if (pair.here_grads.defined())
      // A sum of n terms of random sign in float32, in another order.
      kit_.compare(name + " scale", pair.there_grads, pair.here_grads.to(at::kDouble), 1e-4);
    // Fused with SwiGLU against one after the other, on the device.
    const int64_t gates = axis == NormAxis::Channels ? 2 : 1;
    std::vector<int64_t> wide = sizes;
    wide[static_cast<size_t>(gates)] *= 2;
    const at::Tensor gate_up = kit_.there(kit_.random(wide, 2), type);
    const int64_t rows = axis == NormAxis::Channels ? s.boards * s.positions : s.boards;
    const at::Tensor act = swiglu_forward(gate_up, rows).view(sizes);
    const auto host = [](const at::Tensor& values) { return values.to(at::kCPU).to(at::kDouble); };
    kit_.compare(name + " swiglu", pair.there.swiglu(gate_up, axis, 0),
                 host(pair.there.forward(act, axis)), 0);
    kit_.compare(
        name + " swiglu backward", pair.there.swiglu_backward(gate_up, d_there, axis, 0),
        host(swiglu_backward(gate_up, pair.there.backward(act, d_there, axis).contiguous(), rows)),
        // The compiler may fuse multiply and add in one kernel and not in the other.
        std::ldexp(1.0, type == at::kBFloat16 ? -9 : -20));
  }

  CheckKit& kit_;
};

}  // namespace

void check_fake_quant(CheckKit& kit) { FakeQuantChecker(kit).run(); }

}  // namespace driftless::lab
