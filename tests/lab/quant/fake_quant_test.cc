// SPDX-License-Identifier: Apache-2.0
#include "driftless/lab/quant/fake_quant.h"

#include <array>
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include "driftless/base/rng.h"
#include "driftless/quant/quantizer.h"

#include "tests/testing/expect_error.h"

namespace driftless::lab {
namespace {

using driftless::testing::expect_error;
using quant::parse_quant_spec;

at::Tensor random(const std::vector<int64_t>& sizes, uint64_t seed) {
  Rng rng(seed);
  at::Tensor values = at::empty(sizes, at::kFloat);
  for (int64_t i = 0; i < values.numel(); ++i)
    values.data_ptr<float>()[i] = static_cast<float>(rng.gaussian());
  return values;
}

TEST(FakeQuant, ForwardIsTheQuantizerBoardByBoardAlongEitherAxis) {
  for (const char* text : {"mxint4", "mxint3", "mxint2", "mxfp4", "nvfp4", "int4/tensor",
                           "int4/token", "uint4/token", "int4/group32", "bf16"}) {
    const quant::QuantSpec spec = parse_quant_spec(text);
    const FakeQuantizer quantizer(spec);
    const at::Tensor x = random({3, 5, 81}, 1);
    at::Tensor expected = at::empty_like(x);
    for (int64_t board = 0; board < 3; ++board)
      quant::Quantizer(spec).fake_quantize({x[board].data_ptr<float>(), 5, 81},
                                           {expected[board].data_ptr<float>(), 5, 81});
    EXPECT_TRUE(at::equal(quantizer.forward(x, NormAxis::Channels), expected)) << text;
    const at::Tensor turned = x.transpose(1, 2).contiguous();
    EXPECT_TRUE(at::equal(quantizer.forward(turned, NormAxis::Tokens).transpose(1, 2), expected))
        << text;
  }
}

TEST(FakeQuant, GradientPassesAndStopsWhereTheBlockClips) {
  // The largest magnitude sets the exponent 0: the grid ends at 1.75, half a step more is 1.875.
  const at::Tensor x = at::tensor({1.99f, 1.87f, -1.99f, 0.3f, 0.0f}).view({1, 1, 5});
  const at::Tensor d = at::tensor({1.0f, 2.0f, 3.0f, 4.0f, 5.0f}).view({1, 1, 5});
  const FakeQuantizer quantizer(parse_quant_spec("mxint4"));
  const at::Tensor expected = at::tensor({0.0f, 2.0f, 0.0f, 4.0f, 5.0f}).view({1, 1, 5});
  EXPECT_TRUE(at::equal(quantizer.backward(x, d, NormAxis::Channels), expected));
  const at::Tensor leaf = x.clone().set_requires_grad(true);
  torch::autograd::backward({quantizer(leaf, NormAxis::Channels)}, {d});
  EXPECT_TRUE(at::equal(leaf.grad(), expected));
}

TEST(FakeQuant, LsqGradientsAreTheWrittenFormula) {
  // int4 with s = 0.5: r = 0.6, -1.4, 7 (the end counts as clipped), -9.
  const at::Tensor scales = at::tensor({0.5f});
  at::Tensor grads = at::zeros({1}, at::kFloat);
  const FakeQuantizer quantizer(parse_quant_spec("int4/tensor/static"), {scales, grads});
  const at::Tensor x = at::tensor({0.3f, -0.7f, 3.5f, -4.5f}).view({1, 1, 4});
  const at::Tensor d = at::tensor({1.0f, 2.0f, 3.0f, 4.0f}).view({1, 1, 4});
  const at::Tensor values = quantizer.forward(x, NormAxis::Channels);
  EXPECT_TRUE(at::equal(values, at::tensor({0.5f, -0.5f, 3.5f, -3.5f}).view({1, 1, 4})));
  const at::Tensor d_x = quantizer.backward(x, d, NormAxis::Channels);
  EXPECT_TRUE(at::equal(d_x, at::tensor({1.0f, 2.0f, 0.0f, 0.0f}).view({1, 1, 4})));
  const double by_scale = 1 * (1 - 0.6) + 2 * (-1 + 1.4) + 3 * 7 + 4 * -7;
  // Float32 arithmetic on a handful of terms.
  EXPECT_NEAR(grads.item<double>(), 0.5 * by_scale / std::sqrt(4 * 7.0), 1e-6);
}

TEST(FakeQuant, LsqScalesPerChannelAndPerCallGetTheirOwnGradients) {
  at::Tensor grads = at::zeros({2}, at::kFloat);
  const at::Tensor scales = at::tensor({0.5f, 0.25f});
  const at::Tensor x = at::tensor({0.3f, 9.0f, 0.3f, -0.1f}).view({1, 2, 2});
  const at::Tensor d = at::ones({1, 2, 2});
  const FakeQuantizer rows(parse_quant_spec("int4/channel/static"), {scales, grads});
  static_cast<void>(rows.backward(x, d, NormAxis::Channels));
  const double g = 1 / std::sqrt(2 * 7.0);
  EXPECT_NEAR(grads[0].item<double>(), 0.5 * g * (0.4 + 7), 1e-6);
  EXPECT_NEAR(grads[1].item<double>(), 0.25 * g * ((1 - 1.2) + (0 + 0.4)), 1e-6);
  grads.zero_();
  const FakeQuantizer calls(parse_quant_spec("int4/tensor/static"), {scales, grads});
  static_cast<void>(calls.backward(x, d, NormAxis::Channels, 1));
  EXPECT_EQ(grads[0].item<float>(), 0.0f);
  EXPECT_NE(grads[1].item<float>(), 0.0f);
}

// Rounding replaced by r + t with the offset t = q(r) - r held fixed, and clamping kept: a smooth
// function of s between the points where a value starts to clip, whose derivative LSQ takes.
TEST(FakeQuant, LsqGradientIsTheDerivativeOfTheSmoothedSurrogate) {
  const at::Tensor x = random({1, 16, 32}, 2);
  const at::Tensor d = random({1, 16, 32}, 3);
  const double s = 0.31;
  const double q = 7;
  const auto surrogate = [&](double step) {
    double sum = 0;
    for (int64_t i = 0; i < x.numel(); ++i) {
      const double v = static_cast<double>(x.data_ptr<float>()[i]);
      const double offset = std::nearbyint(v / s) - v / s;
      const double r = v / step;
      const double value = std::abs(v / s) >= q ? std::copysign(q, r) * step : v + offset * step;
      sum += static_cast<double>(d.data_ptr<float>()[i]) * value;
    }
    return sum;
  };
  const double h = 1e-4;
  const double slope = (surrogate(s * std::exp(h)) - surrogate(s * std::exp(-h))) / (2 * h);
  at::Tensor grads = at::zeros({1}, at::kFloat);
  const FakeQuantizer quantizer(parse_quant_spec("int4/tensor/static"),
                                {at::full({1}, s, at::kFloat), grads});
  static_cast<void>(quantizer.backward(x, d, NormAxis::Channels));
  // Central differences err by h^2; float32 sums of 512 terms by about 512 * 2^-24 of their size.
  EXPECT_NEAR(grads.item<double>(), slope / std::sqrt(512 * q), 1e-4 * std::abs(slope));
}

TEST(FakeQuant, SwigluGoesThroughTheQuantizer) {
  for (const NormAxis axis : {NormAxis::Channels, NormAxis::Tokens}) {
    const FakeQuantizer quantizer(parse_quant_spec("mxint3"));
    const bool is_tokens = axis == NormAxis::Tokens;
    const at::Tensor gate_up = is_tokens ? random({2, 80, 24}, 4) : random({2, 24, 80}, 4);
    const at::Tensor out = quantizer.swiglu(gate_up, axis, 0);
    const std::vector<at::Tensor> halves = gate_up.chunk(2, is_tokens ? 1 : 2);
    const at::Tensor act = (at::silu(halves[0]) * halves[1]).contiguous();
    EXPECT_TRUE(at::equal(out, quantizer.forward(act, axis)));
    const at::Tensor d = random(out.sizes().vec(), 5);
    const at::Tensor leaf = gate_up.clone().set_requires_grad(true);
    const std::vector<at::Tensor> parts = leaf.chunk(2, is_tokens ? 1 : 2);
    torch::autograd::backward({at::silu(parts[0]) * parts[1]}, {quantizer.backward(act, d, axis)});
    // Both are a few float32 operations per value.
    EXPECT_TRUE(
        at::allclose(quantizer.swiglu_backward(gate_up, d, axis, 0), leaf.grad(), 1e-5, 1e-6));
  }
}

TEST(FakeQuant, WhatIsNotFiniteStaysVisible) {
  at::Tensor x = random({1, 2, 32}, 6);
  x[0][0][3] = std::nanf("");
  const FakeQuantizer quantizer(parse_quant_spec("mxint4"));
  EXPECT_TRUE(quantizer.forward(x, NormAxis::Channels).isnan().any().item<bool>());
}

TEST(FakeQuant, RefusesStepsWithoutAGradientRule) {
  for (const char* text : {"mxint4", "uint4/tensor", "int4/group32", "none"})
    expect_error(ErrorCode::BadConfig, "gradient rule",
                 [&] { require_learnable(parse_quant_spec(text), "recipe"); });
  expect_error(ErrorCode::InvalidArgument, "static",
               [] { FakeQuantizer(parse_quant_spec("int4/tensor/static")); });
}

}  // namespace
}  // namespace driftless::lab
