// SPDX-License-Identifier: Apache-2.0
// What the row quantizer writes is what quant::Quantizer and make_rows give.
#include "driftless/integer/row_quantizer.h"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/testing/expect_error.h"
#include "tests/testing/sample_values.h"

namespace driftless::integer {
namespace {

constexpr const char* kSpecs[] = {"mxint4,window=4",
                                  "mxint4,rule=mse,window=4",
                                  "mxint4,window=0",
                                  "mxint4,rule=round,window=7",
                                  "mxint8,window=3",
                                  "mxint8,window=0",
                                  "mxint3,window=5",
                                  "mxint2,window=6",
                                  "mxint6,window=1",
                                  "int8/token",
                                  "int4/token",
                                  "int8_full/token",
                                  "int4/block32,scale=e5m3,window=0",
                                  "int4/block32,scale=e5m3,rule=mse,window=0",
                                  "int4/block32,scale=e4m4,rule=rceil,window=0",
                                  "int4_full/block32,scale=s4m3,window=0",
                                  "int4_full/block32,scale=s4m3,rule=mse,window=0",
                                  "int3/block32,scale=e4m4,window=1",
                                  "int4/block32,scale=e5m3,window=4",
                                  "int4/block32,scale=e5m3,rule=mse,window=1",
                                  "int3/block32,scale=e4m4,window=3",
                                  "int4_full/block32,scale=s4m3,window=3",
                                  "int4_full/block32,scale=s4m3,rule=rceil,window=8"};

/// Rows with blocks up to 12 octaves apart, a zero row, and rows at the ends of the float range.
std::vector<float> rows_of(int64_t rows, int64_t k, uint64_t seed) {
  auto values = testing::gaussian_values(rows * k, seed);
  Rng rng(seed);
  for (int64_t row = 0; row < rows; ++row) {
    const int top = row % 5 == 1 ? 100 : row % 5 == 2 ? -128 : 0;
    int octave = 0;
    for (int64_t i = 0; i < k; ++i) {
      if (i % 32 == 0) octave = static_cast<int>(rng.below(13));
      float& value = values[static_cast<size_t>(row * k + i)];
      value = row % 5 == 3 ? 0.0f : std::ldexp(value, top - octave);
    }
  }
  return values;
}

TEST(RowQuantizer, EqualsTheQuantizerBitForBit) {
  for (const char* text : kSpecs) {
    const quant::QuantSpec spec = quant::parse_quant_spec(text);
    for (const int64_t k : {1, 31, 32, 33, 81, 97, 256}) {
      SCOPED_TRACE(std::string(text) + ", k " + std::to_string(k));
      const int64_t rows = 10;
      const auto values = rows_of(rows, k, static_cast<uint64_t>(k));
      const auto quantized = quant::Quantizer(spec).quantize({values.data(), rows, k});
      for (const KernelSet* set : available_kernels()) {
        const RowMatrix expected = make_rows(quantized, *set);
        const RowQuantizer quantizer(spec, *set);
        RowMatrix got = quantizer.make(rows, k);
        for (int pass = 0; pass < 2; ++pass) {  // The second one overwrites the first.
          for (int64_t row = 0; row < rows; ++row) {
            quantizer.quantize({values.data() + row * k, static_cast<size_t>(k)}, got, row);
          }
        }
        EXPECT_EQ(got.bytes, expected.bytes) << set->name;
        EXPECT_EQ(got.shifts, expected.shifts) << set->name;
        EXPECT_EQ(got.scales, expected.scales) << set->name;
        EXPECT_EQ(got.form.window, expected.form.window);
        RowMatrix at_once = quantizer.make(rows, k);
        quantizer.quantize_rows({values.data(), rows, k}, at_once);
        EXPECT_EQ(at_once.bytes, expected.bytes) << set->name;
        EXPECT_EQ(at_once.scales, expected.scales) << set->name;
      }
    }
  }
}

/// Quotients that lie on the middle of two integers, or a few bits beside it.
std::vector<float> middles(float scale, int64_t count, uint64_t seed) {
  Rng rng(seed);
  std::vector<float> values(static_cast<size_t>(count));
  for (float& value : values) {
    const double middle = static_cast<double>(rng.below(254)) - 126.5;
    value = static_cast<float>(middle * static_cast<double>(scale));
    for (uint64_t bits = rng.below(5); bits > 0; --bits)
      value = std::nextafter(value, rng.below(2) == 0 ? -INFINITY : INFINITY);
  }
  values[0] = 127 * scale;
  return values;
}

TEST(RowQuantizer, DividesWhereAReciprocalWouldRoundElsewhere) {
  constexpr int64_t kCount = 4096;
  Rng rng(3);
  for (int i = 0; i < 100; ++i) {
    const auto scale = static_cast<float>(std::ldexp(1 + rng.uniform(), i % 7 - 3));
    const auto values = middles(scale, kCount, static_cast<uint64_t>(i));
    for (const char* text : {"int8/token", "int8_full/token", "int4/token"}) {
      const quant::QuantSpec spec = quant::parse_quant_spec(text);
      const auto quantized = quant::Quantizer(spec).quantize({values.data(), 1, kCount});
      for (const KernelSet* set : available_kernels()) {
        const RowQuantizer quantizer(spec, *set);
        RowMatrix got = quantizer.make(1, kCount);
        quantizer.quantize(values, got, 0);
        ASSERT_EQ(got.bytes, make_rows(quantized, *set).bytes) << set->name << ", " << text;
      }
    }
  }
}

/// Scales so large that the largest code times a scale is infinite, and values below any scale.
TEST(RowQuantizer, KeepsToTheEndsOfTheFloatRange) {
  for (const float size : {std::numeric_limits<float>::max(), 0x1p-126f, 0x1p-149f}) {
    auto values = testing::gaussian_values(64, 4);
    for (float& value : values) value = std::copysign(size, value);
    values[5] = size / 3;
    for (const char* text : {"int8/token", "int8_full/token", "int3/token"}) {
      const quant::QuantSpec spec = quant::parse_quant_spec(text);
      const auto quantized = quant::Quantizer(spec).quantize({values.data(), 1, 64});
      for (const KernelSet* set : available_kernels()) {
        const RowQuantizer quantizer(spec, *set);
        RowMatrix got = quantizer.make(1, 64);
        quantizer.quantize(values, got, 0);
        EXPECT_EQ(got.bytes, make_rows(quantized, *set).bytes) << set->name << ", " << text;
        EXPECT_EQ(got.scales[0], quantized.scales.floats[0].scale) << set->name << ", " << text;
      }
    }
  }
}

TEST(RowQuantizer, TilesAreRows) {
  for (const char* text : {"int8/token", "int4/token"})
    for (const int64_t blocks : {1, 2, 5}) {
      const int64_t rows = 13;
      const int64_t k = blocks * kBlock;
      const auto values = rows_of(rows, k, 9);
      std::vector<float> tiles;
      for (int64_t block = 0; block < blocks; ++block)
        for (int64_t row = 0; row < rows; ++row) {
          const auto first = values.begin() + row * k + block * kBlock;
          tiles.insert(tiles.end(), first, first + kBlock);
        }
      for (const KernelSet* set : available_kernels()) {
        const RowQuantizer quantizer(quant::parse_quant_spec(text), *set);
        RowMatrix expected = quantizer.make(rows, k);
        RowMatrix got = quantizer.make(rows, k);
        quantizer.quantize_rows({values.data(), rows, k}, expected);
        quantizer.quantize_tiles(tiles.data(), rows, got);
        EXPECT_EQ(got.bytes, expected.bytes) << set->name << ", " << text;
        EXPECT_EQ(got.scales, expected.scales) << set->name << ", " << text;
      }
    }
}

TEST(RowQuantizer, RefusesWhatItCannotDo) {
  const auto make = [](const char* text) {
    return RowQuantizer(quant::parse_quant_spec(text), kScalarKernels);
  };
  EXPECT_ERROR(make("mxint4"), ErrorCode::Unsupported, "window=4");
  EXPECT_ERROR(make("mxint4,window=11"), ErrorCode::Unsupported, "window of 0 to 10");
  EXPECT_ERROR(make("mxfp4,window=4"), ErrorCode::Unsupported, "expected mxint blocks of 32");
  EXPECT_ERROR(make("int8/tensor"), ErrorCode::Unsupported, "per token");
  EXPECT_ERROR(make("int4/block32,scale=e5m3"), ErrorCode::Unsupported, "window=0");
  EXPECT_ERROR(make("int4/block32,scale=e4m4,window=1"), ErrorCode::Unsupported,
               "three fraction bits");
  EXPECT_ERROR(make("int4/block32,scale=fp16,window=1"), ErrorCode::Unsupported,
               "three fraction bits");
  EXPECT_ERROR(make("int5/block32,scale=e5m3,window=0"), ErrorCode::Unsupported, "four bits");
  EXPECT_ERROR(make("int4/block16,scale=e5m3,window=0"), ErrorCode::Unsupported, "blocks of 32");
  EXPECT_ERROR(make("int4/block32,scale=fp16,window=0"), ErrorCode::Unsupported, "8 bits");
  EXPECT_ERROR((void)make("int8/token").make(0, 4), ErrorCode::InvalidArgument, "0 x 4");
  const RowQuantizer quantizer = make("mxint4,window=4");
  RowMatrix out = quantizer.make(2, 40);
  std::vector<float> values(40, 1.0f);
  EXPECT_ERROR(quantizer.quantize(values, out, 2), ErrorCode::InvalidArgument, "row 2");
  values[39] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_ERROR(quantizer.quantize(values, out, 1), ErrorCode::Numeric, "block 1");
  EXPECT_ERROR(make("int8/token").quantize(values, out, 1), ErrorCode::Numeric, "rows 1");
}

}  // namespace
}  // namespace driftless::integer
