// SPDX-License-Identifier: Apache-2.0
#include "driftless/quant/plan/planned_layer.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "tests/testing/expect_error.h"
#include "tests/testing/sample_values.h"

namespace driftless::quant {
namespace {

constexpr int64_t kOutputs = 5;
constexpr int64_t kInputs = 45;  // no Hadamard order, no multiple of 32
constexpr int64_t kRows = 7;

std::vector<float> absmax_of_columns(const std::vector<float>& values, int64_t rows) {
  std::vector<float> absmax(static_cast<size_t>(kInputs));
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t i = 0; i < kInputs; ++i)
      absmax[static_cast<size_t>(i)] = std::max(
          absmax[static_cast<size_t>(i)], std::abs(values[static_cast<size_t>(row * kInputs + i)]));
  return absmax;
}

struct Sample {
  std::vector<float> weight = testing::gaussian_values(kOutputs * kInputs, 1);
  std::vector<float> input = testing::gaussian_values(kRows * kInputs, 2);
  ConstMat weight_matrix() const { return {weight.data(), kOutputs, kInputs}; }

  LayerPlan plan(std::string_view weights, std::string_view acts) const {
    return {.name = "layer", .weights = parse_quant_spec(weights), .acts = parse_quant_spec(acts)};
  }
};

std::vector<float> transformed(const PlannedLayer& layer, const Sample& sample) {
  std::vector<float> out(static_cast<size_t>(kRows * layer.length()));
  std::vector<float> scratch(static_cast<size_t>(layer.scratch_length()));
  layer.transform_input({sample.input.data(), kRows, kInputs}, {out.data(), kRows, layer.length()},
                        scratch);
  return out;
}

double dot(const float* a, const float* b, int64_t n) {
  double sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += double{a[i]} * double{b[i]};
  return sum;
}

TEST(PlannedLayer, TransformsLeaveTheProductAlone) {
  const Sample sample;
  for (const bool smooths : {false, true})
    for (const bool rotates : {false, true})
      for (const char* acts : {"none", "mxint4", "int4/group12"}) {
        LayerPlan plan = sample.plan("none", acts);
        plan.hadamard = rotates;
        if (smooths) plan.smooth = 0.5;
        if (smooths) plan.input_absmax = absmax_of_columns(sample.input, kRows);
        const PlannedLayer layer(plan, sample.weight_matrix());
        EXPECT_EQ(layer.transforms_input(), smooths || rotates);
        const int64_t blocks = acts == std::string_view("mxint4") ? 64 : 48;
        EXPECT_EQ(layer.length(), rotates ? blocks : kInputs) << acts;
        const auto weight = layer.multiplied_weight(sample.weight_matrix());
        const auto input = transformed(layer, sample);
        for (int64_t row = 0; row < kRows; ++row)
          for (int64_t output = 0; output < kOutputs; ++output) {
            const double expected = dot(sample.input.data() + row * kInputs,
                                        sample.weight.data() + output * kInputs, kInputs);
            const double actual = dot(input.data() + row * layer.length(),
                                      weight.data() + output * layer.length(), layer.length());
            // Each transformed value is off by at most 16 roundings of values below 4 * 8, and the
            // product sums 64 pairs of them.
            EXPECT_NEAR(actual, expected, 64 * 2 * 16 * 32 * 0x1p-24);
          }
      }
}

TEST(PlannedLayer, QuantizesTheTransformedWeight) {
  const Sample sample;
  LayerPlan plan = sample.plan("mxint4", "none");
  plan.hadamard = true;
  const PlannedLayer layer(plan, sample.weight_matrix());
  const Hadamard rotation = Hadamard::whole(kInputs);
  std::vector<float> expected(static_cast<size_t>(kOutputs * rotation.output_length()));
  const Mat matrix{expected.data(), kOutputs, rotation.output_length()};
  rotation.apply(sample.weight_matrix(), matrix);
  Quantizer quantizer(plan.weights);
  quantizer.use_kernels(kScalarKernels);
  quantizer.fake_quantize({matrix.data, matrix.rows, matrix.cols}, matrix);
  EXPECT_EQ(layer.multiplied_weight(sample.weight_matrix()), expected);
}

TEST(PlannedLayer, KnowsWhatNeedsTheWholeInput) {
  const Sample sample;
  const auto needs = [&](std::string_view acts) {
    LayerPlan plan = sample.plan("none", acts);
    if (plan.needs_scales()) plan.scales = {{1}};
    return PlannedLayer(plan, sample.weight_matrix()).needs_whole_input();
  };
  for (const char* acts : {"int4", "uint4", "nvfp4", "fp8_e4m3"}) EXPECT_TRUE(needs(acts)) << acts;
  for (const char* acts : {"none", "int4/tensor/static", "int4/token", "int4/group32", "mxint4"})
    EXPECT_FALSE(needs(acts)) << acts;
}

TEST(PlannedLayer, KnowsWhatBfloat16Holds) {
  const auto values = testing::gaussian_values(4096, 3);
  const auto rounded = [](const std::vector<float>& x, const char* spec) {
    std::vector<float> out(x.size());
    Quantizer(parse_quant_spec(spec)).fake_quantize({x.data(), 64, 64}, {out.data(), 64, 64});
    return out;
  };
  for (const formats::Format& format : formats::formats()) {
    if (format.element.min > 0) continue;  // stores scales
    const std::string name(format.name);
    const auto quantized = rounded(values, name.c_str());
    const bool is_exact = is_exact_in_bf16(parse_quant_spec(name));
    EXPECT_EQ(is_exact, name.starts_with("mx") || name == "bf16") << name;
    EXPECT_TRUE(!is_exact || rounded(quantized, "bf16") == quantized) << name;
  }
  EXPECT_FALSE(is_exact_in_bf16({}));
}

TEST(PlannedLayer, TakesTheScaleOfTheCall) {
  const Sample sample;
  LayerPlan plan = sample.plan("none", "int4/tensor/static");
  plan.scales = {{1}, {0.25f}};
  const PlannedLayer layer(plan, sample.weight_matrix());
  const float value = 0.3f;
  for (const int64_t call : {0, 1}) {
    float out = 0;
    layer.input_quantizer(call).fake_quantize({&value, 1, 1}, {&out, 1, 1});
    EXPECT_EQ(out, call == 0 ? 0.0f : 0.25f);
  }
}

TEST(PlannedLayer, RefusesBadInput) {
  Sample sample;
  EXPECT_ERROR(PlannedLayer(sample.plan("none", "int4/tensor/static"), sample.weight_matrix()),
               ErrorCode::InvalidArgument, "calibrate");
  sample.weight[3] = std::numeric_limits<float>::quiet_NaN();
  const PlannedLayer layer(sample.plan("int4", "none"), sample.weight_matrix());
  EXPECT_ERROR(static_cast<void>(layer.multiplied_weight(sample.weight_matrix())),
               ErrorCode::Numeric, "layer 'layer'");
}

}  // namespace
}  // namespace driftless::quant
