// SPDX-License-Identifier: Apache-2.0
#include "driftless/quant/scale/window.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "driftless/formats/e8m0fnu.h"
#include "driftless/quant/codec.h"
#include "driftless/quant/quantizer.h"

#include "tests/testing/expect_error.h"
#include "tests/testing/sample_values.h"

namespace driftless::quant {
namespace {

constexpr int64_t kCols = 97;

/// Rows whose blocks lie up to 12 octaves apart, some of them zero.
std::vector<float> wide_rows(int64_t rows, uint64_t seed) {
  auto values = testing::gaussian_values(rows * kCols, seed);
  Rng rng(seed + 1);
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t first = 0; first < kCols; first += 32) {
      const int octave = static_cast<int>(rng.below(13));
      const float scale = octave == 12 ? 0.0f : std::ldexp(1.0f, -octave);
      for (int64_t i = first; i < std::min(first + 32, kCols); ++i) {
        values[static_cast<size_t>(row * kCols + i)] *= scale;
      }
    }
  }
  return values;
}

QuantizedMatrix quantized(const std::string& spec, const std::vector<float>& values) {
  const int64_t rows = std::ssize(values) / kCols;
  return Quantizer(parse_quant_spec(spec)).quantize({values.data(), rows, kCols});
}

int mantissa_of(uint8_t code) { return code < 8 ? code : code - 16; }

/// m / 2^shift to nearest, ties to even, without a float.
int shifted_to_even(int m, int shift) {
  if (shift > 8) return 0;
  const int unit = 1 << shift;
  const int whole = std::abs(m) / unit;
  const int rest = std::abs(m) % unit * 2;
  const int up = rest > unit || (rest == unit && whole % 2 == 1) ? 1 : 0;
  return m < 0 ? -(whole + up) : whole + up;
}

TEST(Window, IsARoundedShiftOfIntegerMantissas) {
  const auto values = wide_rows(50, 5);
  const QuantizedMatrix free = quantized("mxint4", values);
  const QuantizedMatrix kept = quantized("mxint4,window=4", values);
  int64_t raised = 0;
  for (size_t row = 0; row < 50; ++row) {
    const auto scales = free.scales.codes.begin() + static_cast<int64_t>(row * 4);
    const int top = *std::max_element(scales, scales + 4);
    for (size_t i = 0; i < kCols; ++i) {
      const size_t block = row * 4 + i / 32;
      const int scale = std::max(int{free.scales.codes[block]}, top - 4);
      ASSERT_EQ(kept.scales.codes[block], scale);
      const int shift = scale - free.scales.codes[block];
      raised += shift > 0 ? 1 : 0;
      ASSERT_EQ(mantissa_of(kept.codes[row * kCols + i]),
                shifted_to_even(mantissa_of(free.codes[row * kCols + i]), shift))
          << "row " << row << " value " << i << " shift " << shift;
    }
  }
  EXPECT_GT(raised, 500);
}

TEST(Window, ChangesNothingWithinIt) {
  const auto values = wide_rows(20, 6);
  const QuantizedMatrix free = quantized("mxint8,rule=mse", values);
  const QuantizedMatrix kept = quantized("mxint8,rule=mse,window=254", values);
  EXPECT_EQ(kept.codes, free.codes);
  EXPECT_EQ(kept.scales.codes, free.scales.codes);
}

TEST(Window, ZeroGivesARowOneExponent) {
  const QuantizedMatrix kept = quantized("mxfp4,window=0", wide_rows(20, 7));
  for (size_t block = 0; block < kept.scales.codes.size(); ++block) {
    EXPECT_EQ(kept.scales.codes[block], kept.scales.codes[block / 4 * 4]);
  }
}

TEST(Window, QuantizingTwiceChangesNothing) {
  const auto values = wide_rows(20, 8);
  const Quantizer quantizer(parse_quant_spec("mxint4,window=3"));
  std::vector<float> once(values.size());
  quantizer.fake_quantize({values.data(), 20, kCols}, {once.data(), 20, kCols});
  std::vector<float> twice(values.size());
  quantizer.fake_quantize({once.data(), 20, kCols}, {twice.data(), 20, kCols});
  EXPECT_EQ(std::memcmp(once.data(), twice.data(), once.size() * sizeof(float)), 0);
}

TEST(Window, AnAllZeroRowKeepsScaleCodeZero) {
  const QuantizedMatrix kept = quantized("mxint4,window=4", std::vector<float>(kCols, 0.0f));
  EXPECT_EQ(kept.scales.codes, std::vector<uint8_t>(4, 0));
}

/// A scale of three fraction bits as (8 + m) * 2^e.
struct Eighths {
  int mantissa;
  int exponent;
};
Eighths eighths_of(float scale) {
  int exponent = 0;
  const float fraction = std::frexp(scale, &exponent);  // in [1/2, 1) or its negative
  return {static_cast<int>(fraction * 16), exponent - 4};
}

TEST(Window, RowsOfBlocksWithFractionsAreBytesTimesOneUnit) {
  const auto values = wide_rows(50, 5);
  for (const std::string text : {"int4/block32,scale=e5m3", "int4_full/block32,scale=s4m3"}) {
    const QuantizedMatrix free = quantized(text, values);
    const QuantizedMatrix kept = quantized(text + ",window=0", values);
    EXPECT_EQ(kept.codes, free.codes);
    EXPECT_EQ(kept.scales.floats, free.scales.floats);
    const QuantizedMatrix integers = integer_rows(kept);
    std::vector<float> decoded(values.size());
    dequantize(kept, {decoded.data(), 50, kCols});
    int64_t rounded = 0;
    for (size_t row = 0; row < 50; ++row) {
      int top = -100;
      for (size_t block = 0; block < 4; ++block)
        top = std::max(top, eighths_of(kept.scales.floats[row * 4 + block].scale).exponent);
      EXPECT_EQ(integers.scales.floats[row].scale, std::ldexp(1.0f, top));
      for (size_t i = row * kCols; i < (row + 1) * kCols; ++i) {
        const float scale = kept.scales.floats[row * 4 + (i - row * kCols) / 32].scale;
        const auto [mantissa, exponent] = eighths_of(scale);
        const int exact = mantissa_of(kept.codes[i]) * mantissa;
        const int integer = shifted_to_even(exact, top - exponent);
        rounded += exact != integer << (top - exponent) ? 1 : 0;
        ASSERT_EQ(static_cast<int8_t>(integers.codes[i]), integer) << text << ", value " << i;
        ASSERT_EQ(decoded[i], std::ldexp(static_cast<float>(integer), top)) << text;
      }
    }
    EXPECT_GT(rounded, 500);
  }
}

TEST(Window, AWiderOneShiftsTheBytesOfABlock) {
  const auto values = wide_rows(50, 5);
  for (int window = 1; window <= 6; ++window) {
    const QuantizedMatrix kept =
        quantized("int4_full/block32,scale=s4m3,window=" + std::to_string(window), values);
    const QuantizedMatrix integers = integer_rows(kept);
    EXPECT_EQ(to_string(integers.spec), "mxint8,window=" + std::to_string(window));
    std::vector<float> decoded(values.size());
    dequantize(kept, {decoded.data(), 50, kCols});
    std::vector<int> shifts;
    for (size_t row = 0; row < 50; ++row) {
      int top = -100;
      for (size_t block = 0; block < 4; ++block)
        top = std::max(top, eighths_of(kept.scales.floats[row * 4 + block].scale).exponent);
      for (size_t i = row * kCols; i < (row + 1) * kCols; ++i) {
        const size_t block = row * 4 + (i - row * kCols) / 32;
        const auto [mantissa, exponent] = eighths_of(kept.scales.floats[block].scale);
        const int shift = exponent - (top - window);
        const int exact = mantissa_of(kept.codes[i]) * mantissa;
        const int byte = shift < 0 ? shifted_to_even(exact, -shift) : exact;
        ASSERT_EQ(static_cast<int8_t>(integers.codes[i]), byte) << window << ", value " << i;
        // An mxint8 mantissa counts 2^(exponent - 6).
        const int stored = formats::E8m0fnu::exponent_of_code(integers.scales.codes[block]) - 6;
        ASSERT_EQ(stored, top - window + std::max(shift, 0));
        ASSERT_EQ(decoded[i], std::ldexp(static_cast<float>(byte), stored));
        shifts.push_back(shift);
      }
    }
    EXPECT_EQ(*std::max_element(shifts.begin(), shifts.end()), window);
    EXPECT_LT(*std::min_element(shifts.begin(), shifts.end()), 0);
  }
}

TEST(Window, FewerBitsLeaveRoomInAByte) {
  const auto form = [](const char* text) {
    const QuantSpec spec = parse_quant_spec(text);
    return has_integer_rows(spec) ? integer_window(spec) : kNoWindow;
  };
  EXPECT_EQ(form("int4/block32,scale=e5m3,window=0"), 0);
  EXPECT_EQ(form("int4/block32,scale=e5m3,window=3"), 3);
  EXPECT_EQ(form("int3/block32,scale=e5m3,window=3"), 2);
  EXPECT_EQ(form("int2_full/block32,scale=s4m3,window=2"), 0);
  EXPECT_EQ(form("int4/block32,scale=e4m4,window=0"), 0);
  EXPECT_EQ(form("int4/block32,scale=e4m4,window=1"), kNoWindow);
  EXPECT_EQ(form("int3/block32,scale=e4m4,window=3"), 2);
  EXPECT_EQ(form("int3/block32,scale=fp16,window=2"), kNoWindow);
  EXPECT_EQ(form("int5/block32,scale=e5m3,window=0"), kNoWindow);
  EXPECT_EQ(form("int4/block32,scale=e5m3"), kNoWindow);
}

TEST(Window, FakeQuantizingIsDecodingThere) {
  const auto values = wide_rows(20, 9);
  for (const std::string text :
       {"int4/block32,scale=e5m3,window=0", "int4_full/block32,scale=s4m3,rule=mse,window=0",
        "int3/block16,scale=fp16,window=2", "fp4_e2m1/block32,scale=e4m4,window=1"}) {
    std::vector<float> fake(values.size());
    std::vector<float> decoded(values.size());
    Quantizer(parse_quant_spec(text))
        .fake_quantize({values.data(), 20, kCols}, {fake.data(), 20, kCols});
    dequantize(quantized(text, values), {decoded.data(), 20, kCols});
    EXPECT_EQ(std::memcmp(fake.data(), decoded.data(), fake.size() * sizeof(float)), 0) << text;
  }
}

TEST(Window, MantissasWiderThanAByteAreRefusedAsIntegers) {
  const auto values = wide_rows(1, 3);
  EXPECT_ERROR((void)integer_rows(quantized("int4/block32,scale=e4m4,window=1", values)),
               ErrorCode::Unsupported, "three fraction bits");
}

TEST(Window, BytesHaveNoRows) {
  EXPECT_ERROR(parse_codec_spec("mxint4,window=4"), ErrorCode::InvalidArgument, "window over rows");
}

}  // namespace
}  // namespace driftless::quant
