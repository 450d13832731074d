// SPDX-License-Identifier: Apache-2.0
#include "driftless/quant/scale/fit.h"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "driftless/base/rng.h"

#include "tests/testing/expect_error.h"

namespace driftless::quant {
namespace {

double error_of(const QuantizedMatrix& matrix, const std::vector<float>& values) {
  std::vector<float> decoded(values.size());
  dequantize(matrix, {decoded.data(), matrix.rows, matrix.cols});
  double sum = 0;
  for (size_t i = 0; i < values.size(); ++i)
    sum += (static_cast<double>(decoded[i]) - static_cast<double>(values[i])) *
           (static_cast<double>(decoded[i]) - static_cast<double>(values[i]));
  return sum;
}

constexpr const char* kSpecs[] = {"int4/block32,scale=e5m3", "int3/block32,scale=e4m4",
                                  "int4_full/block32,scale=s4m3", "int4/block7,scale=e5m3"};

// Codes that leave the ends of the range unused are what the rules do not find back.
TEST(Fit, ValuesOnAGridComeBackAsTheyAre) {
  for (const char* text : kSpecs) {
    const Quantizer quantizer(parse_quant_spec(text));
    const formats::Element& element = quantizer.spec().format->element;
    Rng rng(3);
    constexpr int64_t kRows = 9;
    constexpr int64_t kCols = 97;
    std::vector<float> values(kRows * kCols);
    const int64_t group = quantizer.spec().group;
    for (int64_t row = 0; row < kRows; ++row) {
      for (int64_t first = 0; first < kCols; first += group) {
        const bool is_negative = formats::is_signed(quantizer.spec().scale) && rng.below(2) == 0;
        const float wanted = static_cast<float>(0.01 + 0.2 * rng.uniform());
        const float scale = formats::decode_scale(
            quantizer.spec().scale,
            formats::encode_scale(quantizer.spec().scale, is_negative ? -wanted : wanted));
        const auto most = static_cast<int64_t>(rng.below(static_cast<uint64_t>(element.max))) + 1;
        for (int64_t i = first; i < std::min(first + group, kCols); ++i)
          values[static_cast<size_t>(row * kCols + i)] =
              scale *
              static_cast<float>(
                  static_cast<int64_t>(rng.below(static_cast<uint64_t>(2 * most + 1))) - most);
      }
    }
    EXPECT_EQ(error_of(quantize_by_fit(quantizer, {values.data(), kRows, kCols}), values), 0)
        << text;
  }
}

TEST(Fit, IsNeverWorseThanTheRuleOfLeastError) {
  for (const char* text : kSpecs) {
    const Quantizer quantizer(parse_quant_spec(std::string(text) + ",rule=mse"));
    Rng rng(4);
    std::vector<float> values(4 * 128);
    for (float& value : values) value = static_cast<float>(0.05 * rng.gaussian());
    const ConstMat matrix{values.data(), 4, 128};
    // Each of the squared errors is rounded to 2^-20 of the block's octave, which is below 0.5.
    EXPECT_LE(error_of(quantize_by_fit(quantizer, matrix), values),
              error_of(quantizer.quantize(matrix), values) + 512 * 0x1p-21 * 0.25)
        << text;
  }
}

TEST(Fit, ZerosStayZerosAndTheLargestFloatsStayFinite) {
  for (const char* text : kSpecs) {
    const Quantizer quantizer(parse_quant_spec(text));
    for (const float value : {0.0f, FLT_MIN, FLT_MAX}) {
      const std::vector<float> values(40, value);
      const QuantizedMatrix matrix = quantize_by_fit(quantizer, {values.data(), 1, 40});
      std::vector<float> decoded(values.size());
      dequantize(matrix, {decoded.data(), 1, 40});
      for (const float got : decoded) EXPECT_TRUE(std::isfinite(got)) << text << " " << value;
      if (value == 0) {
        EXPECT_EQ(decoded, values) << text;
      }
    }
  }
}

TEST(Fit, ValuesThatAreNotFiniteAreRefused) {
  for (const float bad : {std::numeric_limits<float>::infinity(), std::nanf("")}) {
    std::vector<float> values(64, 1.0f);
    values[40] = bad;
    driftless::testing::expect_error(ErrorCode::Numeric, "finite", [&] {
      quantize_by_fit(Quantizer(parse_quant_spec(kSpecs[0])), {values.data(), 2, 32});
    });
  }
}

TEST(Fit, OtherQuantizersAreRefused) {
  const std::vector<float> values(64, 1.0f);
  driftless::testing::expect_error(ErrorCode::InvalidArgument, "blocks with scale=", [&] {
    quantize_by_fit(Quantizer(parse_quant_spec("mxint4")), {values.data(), 1, 64});
  });
}

}  // namespace
}  // namespace driftless::quant
