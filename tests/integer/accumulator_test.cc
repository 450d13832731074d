// SPDX-License-Identifier: Apache-2.0
#include "driftless/integer/accumulator.h"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "tests/integer/samples.h"
#include "tests/testing/expect_error.h"

namespace driftless::integer {
namespace {

/// Rows of one mantissa each per block of 32, all with the same exponent.
quant::QuantizedMatrix constant_blocks(const std::vector<std::vector<int>>& rows) {
  quant::QuantizedMatrix matrix{.spec = quant::parse_quant_spec("mxint4,window=0"),
                                .rows = std::ssize(rows),
                                .cols = 32 * std::ssize(rows.front())};
  for (const auto& row : rows) {
    for (const int mantissa : row) {
      matrix.codes.insert(matrix.codes.end(), 32, static_cast<uint8_t>(mantissa & 15));
      matrix.scales.codes.push_back(127);
    }
  }
  return matrix;
}

std::vector<int64_t> sums_of(const quant::QuantizedMatrix& left,
                             const quant::QuantizedMatrix& right, const Accumulator& accumulator,
                             std::vector<uint64_t>* reach = nullptr) {
  std::vector<int64_t> sums(static_cast<size_t>(left.rows * right.rows), 99);
  if (reach != nullptr) reach->assign(sums.size(), 99);
  AccumulatedProduct(right, kernels())
      .run(left, accumulator, {sums.data(), left.rows, right.rows},
           reach == nullptr ? std::span<uint64_t>() : std::span<uint64_t>(*reach));
  return sums;
}

TEST(AccumulatorBits, HoldBothSigns) {
  EXPECT_EQ(bits_of_magnitude(0), 1);
  EXPECT_EQ(bits_of_magnitude(1), 2);
  EXPECT_EQ(bits_of_magnitude(7), 4);
  EXPECT_EQ(bits_of_magnitude(8), 5) << "4 bits hold -8 but not 8";
}

TEST(AccumulatorBits, FollowFromFormatWindowAndLength) {
  EXPECT_EQ(largest_integer(quant::parse_quant_spec("mxint4,window=4"), 4), 7u * 16u);
  EXPECT_EQ(largest_integer(quant::parse_quant_spec("mxint8"), 3), 127u * 8u);
  EXPECT_EQ(largest_integer(quant::parse_quant_spec("int8_full/token"), 0), 128u);
  // 512 * 112^2 = 6 422 528 < 2^23; 1536 * 112^2 = 19 267 584 < 2^25.
  EXPECT_EQ(guaranteed_bits(512, 112, 112), 24);
  EXPECT_EQ(guaranteed_bits(1536, 112, 112), 26);
  EXPECT_EQ(guaranteed_bits(1, 1, 1), 2);
}

TEST(ExponentSpread, CountsBlocksThatAreNotZero) {
  auto matrix = constant_blocks({{1, 1, 0, 1}, {1, 1, 1, 1}});
  matrix.scales.codes = {120, 117, 0, 119, 90, 90, 90, 83};
  EXPECT_EQ(exponent_spread(matrix), (std::vector<int64_t>{4, 1, 0, 1, 0, 0, 0, 1}));
  quant::QuantizedMatrix fractions{
      .spec = quant::parse_quant_spec("int4_full/block32,scale=s4m3"), .rows = 1, .cols = 128};
  fractions.codes.assign(128, 1);
  for (const float scale : {-1.875f, 1.0f, 0.9375f, -0.125f})
    fractions.scales.floats.push_back({.scale = scale});
  EXPECT_EQ(exponent_spread(fractions), (std::vector<int64_t>{2, 1, 0, 1})) << "octaves of scales";
  EXPECT_TRUE(exponent_spread(sample_matrix("int8/token", {2, 40}, Kind::Random, 1)).empty());
}

TEST(AccumulatedProduct, SaturatesOrWrapsAfterEachBlock) {
  // Block sums 32 * 49 = 1568: the running sum is 1568, 3136, 1568. 12 bits end at 2047.
  const auto left = constant_blocks({{7, 7, 7}});
  const auto right = constant_blocks({{7, 7, -7}});
  std::vector<uint64_t> reach;
  EXPECT_EQ(sums_of(left, right, {}, &reach), std::vector<int64_t>{1568});
  EXPECT_EQ(reach, std::vector<uint64_t>{1568 | 3136});
  EXPECT_EQ(bits_of_magnitude(reach[0]), 13);
  EXPECT_EQ(sums_of(left, right, {13, Overflow::Saturate}), std::vector<int64_t>{1568});
  EXPECT_EQ(sums_of(left, right, {12, Overflow::Saturate}), std::vector<int64_t>{2047 - 1568});
  EXPECT_EQ(sums_of(left, right, {12, Overflow::Wrap}), std::vector<int64_t>{1568});
  // Without the third block the wrapped sum is 3136 - 2^12.
  EXPECT_EQ(
      sums_of(constant_blocks({{7, 7}}), constant_blocks({{7, 7}, {-7, -7}}), {12, Overflow::Wrap}),
      (std::vector<int64_t>{3136 - 4096, 4096 - 3136}));
  EXPECT_EQ(sums_of(constant_blocks({{7, 7}}), constant_blocks({{7, 7}, {-7, -7}}),
                    {12, Overflow::Saturate}),
            (std::vector<int64_t>{2047, -2048}));
}

TEST(AccumulatedProduct, IsExactWhenWide) {
  for (const char* spec :
       {"mxint4,window=4", "mxint8,window=6", "mxint4,window=9",
        "int4_full/block32,scale=s4m3,window=0", "int4_full/block32,scale=s4m3,window=3"}) {
    SCOPED_TRACE(spec);
    const auto left = sample_matrix(spec, {5, 130}, Kind::Random, 3);
    const auto right = sample_matrix(spec, {37, 130}, Kind::Random, 4);
    const RowShifts left_shifts = row_shifts(left);
    const RowShifts right_shifts = row_shifts(right);
    const auto integers = integers_of(right, right_shifts.scales.data());
    const auto expected =
        exact_product(integers_of(left, left_shifts.scales.data()), integers, left.cols);
    EXPECT_EQ(sums_of(left, right, {}), expected);
    std::vector<uint64_t> reach;
    EXPECT_EQ(sums_of(left, right, {}, &reach), expected) << "block by block";

    uint64_t largest = 0;
    for (auto row = integers.begin(); row != integers.end(); row += right.cols) {
      uint64_t sum = 0;
      for (int64_t i = 0; i < right.cols; ++i) sum += static_cast<uint64_t>(std::abs(row[i]));
      largest = std::max(largest, sum);
    }
    const AccumulatedProduct product(right, kernels());
    EXPECT_EQ(product.largest_column_sum(), largest);
    std::vector<float> floats(expected.size());
    product.run(left, {}, quant::Mat{floats.data(), left.rows, right.rows});
    for (size_t i = 0; i < floats.size(); ++i) {
      const float scale = left_shifts.scales[i / 37] * right_shifts.scales[i % 37];
      EXPECT_EQ(floats[i], static_cast<float>(expected[i]) * scale);
    }
  }
}

TEST(AccumulatedProduct, TakesIntegersWithOneScaleARow) {
  const auto left = sample_matrix("int8/token", {3, 70}, Kind::Random, 5);
  const auto right = sample_matrix("int8/channel", {4, 70}, Kind::Random, 6);
  const auto expected = exact_product(integers_of(left, row_shifts(left).scales.data()),
                                      integers_of(right, row_shifts(right).scales.data()), 70);
  EXPECT_EQ(sums_of(left, right, {}), expected);
}

TEST(AccumulatedProduct, RefusesWhatDoesNotFit) {
  const auto a = constant_blocks({{1, 1}});
  const auto b = constant_blocks({{1, 1, 1}});
  EXPECT_ERROR(sums_of(a, a, {1, Overflow::Wrap}), ErrorCode::InvalidArgument, "bits; got 1");
  EXPECT_ERROR(sums_of(a, a, {63, Overflow::Wrap}), ErrorCode::InvalidArgument, "2 to 62");
  EXPECT_ERROR(sums_of(a, b, {}), ErrorCode::InvalidArgument, "expected rows of 96");
  const auto floats = quant::Quantizer(quant::parse_quant_spec("mxfp4"))
                          .quantize({std::vector<float>(32).data(), 1, 32});
  EXPECT_ERROR(AccumulatedProduct(floats, kernels()), ErrorCode::Unsupported, "mxfp4");
}

}  // namespace
}  // namespace driftless::integer
