// SPDX-License-Identifier: Apache-2.0
#include "driftless/quant/quantizer.h"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "driftless/quant/packed.h"

#include "tests/testing/expect_error.h"
#include "tests/testing/sample_values.h"

namespace driftless::quant {
namespace {

/// Every format at every granularity it allows.
std::vector<std::string> every_dynamic_spec() {
  std::vector<std::string> specs;
  for (const formats::Format& format : formats::formats()) {
    const std::string name(format.name);
    if (format.element.min > 0) continue;
    if (format.scaling == formats::Scaling::None) {
      for (const char* granularity : {"unit", "tensor", "channel", "token", "group7", "group32"}) {
        specs.push_back(name + "/" + granularity);
      }
      specs.push_back(name + "/channel,calib=mse");
      specs.push_back(name + "/group32,calib=p90");
      if (format.element.min == 0 || format.element.bits > 8) continue;
      for (const auto& [scale, scale_name] : formats::scale_formats()) {
        if (!formats::suits(scale, format.element)) continue;
        for (const char* rule : {"round", "rceil", "mse"}) {
          specs.push_back(name + "/block32,scale=" + std::string(scale_name) + ",rule=" + rule);
        }
        specs.push_back(name + "/block7,scale=" + std::string(scale_name));
        specs.push_back(name + "/block32,scale=" + std::string(scale_name) + ",window=1");
      }
    } else {
      specs.push_back(name);
      specs.push_back(name + ",block=16");
      specs.push_back(name + ",block=7");
      if (format.scaling != formats::Scaling::PowerOfTwo) continue;
      specs.push_back(name + ",window=4");
      specs.push_back(name + ",rule=mse,block=5,window=0");
    }
  }
  return specs;
}

std::vector<float> fake(const Quantizer& quantizer, ConstMat in) {
  std::vector<float> out(static_cast<size_t>(in.size()));
  quantizer.fake_quantize(in, {out.data(), in.rows, in.cols});
  return out;
}

TEST(Quantizer, FakeQuantizationIsDecodeOfEncode) {
  const int64_t rows = 5;
  const int64_t cols = 97;
  const auto values = testing::awkward_values(rows * cols, 6);
  const ConstMat in{values.data(), rows, cols};
  for (const std::string& text : every_dynamic_spec()) {
    SCOPED_TRACE(text);
    const Quantizer quantizer(parse_quant_spec(text));
    const auto expected = fake(quantizer, in);
    if (quantizer.spec().format->element.bits > 8) continue;
    const QuantizedMatrix quantized = quantizer.quantize(in);
    std::vector<float> decoded(values.size());
    dequantize(quantized, {decoded.data(), rows, cols});
    EXPECT_EQ(std::memcmp(decoded.data(), expected.data(), values.size() * sizeof(float)), 0);

    const QuantizedMatrix unpacked = unpack(pack(quantized));
    EXPECT_EQ(unpacked.codes, quantized.codes);
  }
}

TEST(Quantizer, EveryKernelSetGivesTheSameScalesAndValues) {
  const auto values = testing::awkward_values(3 * 61, 9);
  const ConstMat in{values.data(), 3, 61};
  for (const std::string& text : every_dynamic_spec()) {
    Quantizer quantizer(parse_quant_spec(text));
    quantizer.use_kernels(kScalarKernels);
    const auto expected = fake(quantizer, in);
    for (const KernelSet* set : available_kernels()) {
      quantizer.use_kernels(*set);
      const auto got = fake(quantizer, in);
      EXPECT_EQ(std::memcmp(got.data(), expected.data(), values.size() * sizeof(float)), 0)
          << text << " on " << set->name;
    }
  }
}

TEST(Quantizer, HandComputedScales) {
  // int4 per tensor: absmax 7, scale 1.
  const std::vector<float> x = {7, -3.5f, 2.5f, 0.4f};
  EXPECT_EQ(fake(Quantizer(parse_quant_spec("int4")), {x.data(), 1, 4}),
            (std::vector<float>{7, -4, 2, 0}));
  // Full range: scale 7/8, codes 8 -> 7, -4, 3 (2.857), 0 (0.457).
  EXPECT_EQ(fake(Quantizer(parse_quant_spec("int4_full")), {x.data(), 1, 4}),
            (std::vector<float>{6.125f, -3.5f, 2.625f, 0}));
  // Asymmetric: span 10.5 over 15 steps of 0.7, zero point 5.
  const auto scales = Quantizer(parse_quant_spec("uint4")).quantize({x.data(), 1, 4}).scales;
  EXPECT_EQ(scales.floats[0].scale, 0.7f);
  EXPECT_EQ(scales.floats[0].zero, 5);
  // One scale a row.
  const std::vector<float> rows = {14, 1, 7, 1};
  EXPECT_EQ(fake(Quantizer(parse_quant_spec("int4/token")), {rows.data(), 2, 2}),
            (std::vector<float>{14, 0, 7, 1}));
}

TEST(Quantizer, HandComputedScalesWithFractions) {
  // 7.3 / 7 = 1.043 becomes 1; 7.3 is clipped by less than half a step.
  const std::vector<float> x = {7.3f, -3.4f, 2.6f, 0.4f};
  EXPECT_EQ(fake(Quantizer(parse_quant_spec("int4/block4,scale=e5m3")), {x.data(), 1, 4}),
            (std::vector<float>{7, -3, 3, 0}));
  // Upwards 1.125: 6.49, -3.02, 2.31, 0.36.
  EXPECT_EQ(
      fake(Quantizer(parse_quant_spec("int4/block4,scale=e5m3,rule=rceil")), {x.data(), 1, 4}),
      (std::vector<float>{6.75f, -3.375f, 2.25f, 0}));
  // All but the first value lie on a grid of 0.75, an octave's half below 1: 7 steps reach 5.25.
  const std::vector<float> y = {7, 0.75f, -2.25f, 3.75f, 2.25f, -3.75f, 0.75f, 0.75f};
  const auto mse = Quantizer(parse_quant_spec("int4/block8,scale=e5m3,rule=mse"));
  const auto scale = mse.quantize({y.data(), 1, 8}).scales.floats[0].scale;
  const auto error = [&](float s) {
    double sum = 0;
    for (const float v : y) {
      const double code = std::clamp(std::nearbyint(v / s), -7.0f, 7.0f);
      sum += (v - code * s) * (v - code * s);
    }
    return sum;
  };
  for (const float other : {1.125f, 1.0f, 0.9375f, 0.875f, 0.8125f, 0.75f})
    EXPECT_LE(error(scale), error(other) + 1e-4) << scale << " against " << other;
}

TEST(Quantizer, StaticScalesClip) {
  const QuantSpec spec = parse_quant_spec("int4/tensor/static");
  const Quantizer quantizer(spec, {Scale{.scale = 0.5f}});
  const std::vector<float> x = {100, -100, 0.26f, FLT_MAX};
  EXPECT_EQ(fake(quantizer, {x.data(), 2, 2}), (std::vector<float>{3.5f, -3.5f, 0.5f, 3.5f}));
  const Quantizer rows(parse_quant_spec("int4/channel/static"), {{.scale = 1}, {.scale = 2}});
  const std::vector<float> y = {3, 3};
  EXPECT_EQ(fake(rows, {y.data(), 2, 1}), (std::vector<float>{3, 4}));
}

TEST(Quantizer, NoneCopiesBitForBit) {
  const std::vector<float> x = {1, -0.0f, std::numeric_limits<float>::infinity()};
  const auto out = fake(Quantizer(parse_quant_spec("none")), {x.data(), 1, 3});
  EXPECT_EQ(std::memcmp(out.data(), x.data(), sizeof(float) * 3), 0);
}

TEST(Quantizer, EmptyMatricesAreFine) {
  for (const char* text : {"int4", "mxint4", "nvfp4", "int4/token", "int4/group32"}) {
    const Quantizer quantizer(parse_quant_spec(text));
    EXPECT_TRUE(fake(quantizer, {nullptr, 0, 5}).empty());
    EXPECT_TRUE(quantizer.quantize({nullptr, 0, 5}).codes.empty());
  }
}

TEST(Quantizer, NamesTheFirstValueThatIsNotFinite) {
  auto values = testing::gaussian_values(4 * 50, 1);
  values[2 * 50 + 31] = std::numeric_limits<float>::quiet_NaN();
  values[3 * 50] = std::numeric_limits<float>::infinity();
  for (const std::string& text : every_dynamic_spec()) {
    const Quantizer quantizer(parse_quant_spec(text));
    EXPECT_ERROR(fake(quantizer, {values.data(), 4, 50}), ErrorCode::Numeric,
                 "value 131 (row 2, column 31)");
  }
}

TEST(Quantizer, RefusesWhatDoesNotFit) {
  const std::vector<float> x(6);
  std::vector<float> out(6);
  const Quantizer int4(parse_quant_spec("int4"));
  EXPECT_ERROR(int4.fake_quantize({x.data(), 2, 3}, {out.data(), 3, 2}), ErrorCode::InvalidArgument,
               "3 x 2");
  EXPECT_ERROR(Quantizer(parse_quant_spec("int4/static")), ErrorCode::InvalidArgument, "calibrate");
  EXPECT_ERROR(Quantizer(parse_quant_spec("int4"), {Scale{}}), ErrorCode::InvalidArgument, "none");
  EXPECT_ERROR(Quantizer(parse_quant_spec("int4/static"), {Scale{.scale = 0}}),
               ErrorCode::InvalidArgument, "positive normal");
  const Quantizer channel(parse_quant_spec("int4/channel/static"), {Scale{}});
  EXPECT_ERROR(fake(channel, {x.data(), 2, 3}), ErrorCode::InvalidArgument, "expected 2");
  EXPECT_ERROR((void)Quantizer(parse_quant_spec("bf16")).quantize({x.data(), 2, 3}),
               ErrorCode::Unsupported, "8 bits");
  EXPECT_ERROR((void)Quantizer(parse_quant_spec("none")).quantize({x.data(), 2, 3}),
               ErrorCode::Unsupported, "none");
}

}  // namespace
}  // namespace driftless::quant
