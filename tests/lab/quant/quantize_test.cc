// SPDX-License-Identifier: Apache-2.0
#include "driftless/lab/quant/quantize.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "driftless/lab/check/quantize.h"

#include "tests/testing/expect_error.h"
#include "tests/testing/sample_values.h"

namespace driftless::lab {
namespace {

using quant::Quantizer;

constexpr int64_t kMatrices = 3;
constexpr int64_t kRows = 5;
constexpr int64_t kLength = 97;

at::Tensor awkward_tensor() {
  const std::vector<float> values =
      driftless::testing::awkward_values(kMatrices * kRows * kLength, 6);
  return at::tensor(values).view({kMatrices, kRows, kLength});
}

/// Matrix by matrix, by the scalar kernels.
at::Tensor expected(Quantizer quantizer, const at::Tensor& values) {
  quantizer.use_kernels(quant::kScalarKernels);
  const at::Tensor in = values.contiguous();
  at::Tensor out = at::empty_like(in);
  for (int64_t matrix = 0; matrix < in.size(0); ++matrix)
    quantizer.fake_quantize({in[matrix].data_ptr<float>(), in.size(1), in.size(2)},
                            {out[matrix].data_ptr<float>(), in.size(1), in.size(2)});
  return out;
}

void expect_same_bits(const at::Tensor& got, const at::Tensor& want) {
  ASSERT_EQ(got.sizes(), want.sizes());
  const at::Tensor a = got.contiguous();
  const at::Tensor b = want.contiguous();
  EXPECT_EQ(std::memcmp(a.data_ptr(), b.data_ptr(), static_cast<size_t>(a.nbytes())), 0);
}

TEST(Quantize, EveryQuantizerGivesTheScalarBits) {
  const at::Tensor values = awkward_tensor();
  for (const Quantizer& quantizer : every_quantizer(kRows)) {
    SCOPED_TRACE(quant::to_string(quantizer.spec()));
    const at::Tensor want = expected(quantizer, values);
    expect_same_bits(quantize(quantizer, values).values, want);
    const at::Tensor turned = values.transpose(1, 2).contiguous().transpose(1, 2);
    expect_same_bits(quantize(quantizer, turned).values, want);
  }
}

TEST(Quantize, BFloat16InputIsItsFloat32Value) {
  const at::Tensor narrow = awkward_tensor().clamp(-1e30, 1e30).to(at::kBFloat16);
  for (const char* text : {"mxint4,rule=mse", "int4/tensor", "nvfp4"}) {
    const Quantizer quantizer(quant::parse_quant_spec(text));
    expect_same_bits(quantize(quantizer, narrow).values,
                     expected(quantizer, narrow.to(at::kFloat)));
  }
}

/// A value is clipped where its neighbor of twice the magnitude, under the same scale, gives the
/// same result; that needs static scales.
TEST(Quantize, MaskIsFalseWhereLargerValuesGiveTheSame) {
  for (const char* text :
       {"int4/tensor/static", "int8_full/tensor/static", "fp4_e2m1/tensor/static",
        "fp8_e4m3/tensor/static", "uint4/tensor/static"}) {
    SCOPED_TRACE(text);
    const quant::QuantSpec spec = quant::parse_quant_spec(text);
    const float zero = spec.format->element.min == 0 ? 5 : 0;
    const Quantizer quantizer(spec, {{.scale = 0.25f, .zero = zero}});
    const at::Tensor values = at::linspace(-1200, 1200, 96001).unsqueeze(0) / 7;
    const Quantized got = quantize(quantizer, values, {.mask = ClipMask::Inside});
    const at::Tensor further = quantize(quantizer, values * 4096).values;
    // Beyond the last value but within half a step a value is saturated, yet no worse off.
    const at::Tensor is_rounded = (values - got.values).abs() <= 0.125 * got.values.abs() + 0.125;
    const at::Tensor is_saturated = got.values.eq(further);
    EXPECT_TRUE(got.inside.logical_or(is_saturated).all().item<bool>());
    EXPECT_FALSE(got.inside.logical_and(is_rounded.logical_not()).any().item<bool>());
    EXPECT_TRUE(got.inside.any().item<bool>());
    EXPECT_FALSE(got.inside.all().item<bool>());
  }
}

TEST(Quantize, MaskOfBlocksMarksWhatTheFloorRuleClips) {
  // Largest element of mxint4 is 1.75: under scale 1 a value is clipped from 1.875 on.
  const at::Tensor values = at::tensor({1.0f, 1.5f, 1.75f, 1.8f, 1.9f, -1.9f, 1.99f, 0.0f});
  const Quantizer quantizer(quant::parse_quant_spec("mxint4"));
  const at::Tensor inside = quantize(quantizer, values, {.mask = ClipMask::Inside}).inside;
  const std::vector<bool> want = {true, true, true, true, false, false, false, true};
  for (size_t i = 0; i < want.size(); ++i)
    EXPECT_EQ(inside[static_cast<int64_t>(i)].item<bool>(), want[i]) << i;
}

TEST(Quantize, NoneCastsAndIsInsideEverywhere) {
  const at::Tensor values = awkward_tensor();
  const Quantized got = quantize(Quantizer(quant::QuantSpec{}), values, {.mask = ClipMask::Inside});
  expect_same_bits(got.values, values);
  EXPECT_TRUE(got.inside.all().item<bool>());
}

TEST(Quantize, RefusesWhatIsNotFiniteOrNoFloat) {
  const Quantizer quantizer(quant::parse_quant_spec("mxint4"));
  at::Tensor values = at::ones({2, 3, 40});
  values[1][2][7] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_ERROR(quantize(quantizer, values), ErrorCode::Numeric, "row 2, column 7");
  EXPECT_ERROR(quantize(quantizer, at::ones({2, 3}, at::kInt)), ErrorCode::InvalidArgument, "Int");
  EXPECT_ERROR(quantize(quantizer, at::ones({})), ErrorCode::InvalidArgument, "rows");
  const Quantizer channels(quant::parse_quant_spec("int4/channel/static"),
                           std::vector<quant::Scale>(4));
  EXPECT_ERROR(quantize(channels, at::ones({3, 8})), ErrorCode::InvalidArgument, "static scales");
}

}  // namespace
}  // namespace driftless::lab
