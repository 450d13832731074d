// SPDX-License-Identifier: Apache-2.0
#include "driftless/loop/kernels/epilogues.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "driftless/base/rng.h"

namespace driftless::loop {
namespace {

constexpr int64_t kSizes[] = {1, 15, 16, 17, 48, 81, 257};

/// Ordinary values, then zeros and values far outside exp's range.
std::vector<float> sample(int64_t count, uint64_t seed) {
  Rng rng(seed);
  std::vector<float> values;
  for (int64_t i = 0; i < count; ++i) values.push_back(static_cast<float>(3 * rng.gaussian()));
  if (count > 8) values[3] = 0.0f, values[5] = -200.0f, values[7] = 200.0f;
  return values;
}

/// Every kernel of a set on the same data.
std::vector<std::vector<float>> run_all(const EpilogueSet& set, int64_t count) {
  const auto a = sample(count, 1);
  const auto b = sample(count, 2);
  std::vector<std::vector<float>> results(9, sample(count, 3));
  set.add(results[0].data(), a.data(), count);
  set.add_sum(results[1].data(), a.data(), b.data(), count);
  set.silu_mul(a.data(), b.data(), results[2].data(), count);
  set.add_norm(results[3].data(), a.data(), count, 1e-5f);
  set.softmax(results[4].data(), count, 0.125f);
  constexpr int64_t kRows = 5;
  results[5] = sample(kRows * (count + 3), 4);
  const auto y = sample(kRows * count, 5);
  set.add_norm_columns(results[5].data(), count + 3, y.data(), kRows, count, 1e-5f);
  set.subtract(a.data(), b.data(), results[6].data(), count);
  set.add_up(results[7].data(), results[8].data(), count);
  std::vector<uint8_t> bytes;
  for (int64_t i = 0; i < count; ++i) bytes.push_back(static_cast<uint8_t>(37 * i));
  set.add_bytes(results[8].data(), bytes.data(), count, 0x80, 0.1f);
  return results;
}

TEST(Epilogues, EverySetGivesTheSameBits) {
  const EpilogueSet& portable = *available_epilogues().back();
  EXPECT_EQ(portable.name, "portable");
  for (const EpilogueSet* set : available_epilogues())
    for (const int64_t count : kSizes)
      EXPECT_EQ(run_all(*set, count), run_all(portable, count)) << set->name << " " << count;
}

TEST(Epilogues, SumsOfChangesAreThoseOfSingleValues) {
  const std::vector<float> before = {1.5f, -2.0f, 0x1p24f};
  const uint8_t bytes[] = {0x00, 0xff, 0x81};  // -128, 127 and 1, flipped
  for (const EpilogueSet* set : available_epilogues()) {
    std::vector<float> sums = before;
    set->add_bytes(sums.data(), bytes, 3, 0x80, 0.5f);
    EXPECT_EQ(sums, (std::vector<float>{-62.5f, 61.5f, 0x1p24f})) << set->name;
    std::vector<float> values = {1.0f, 2.0f, 3.0f};
    set->add_up(sums.data(), values.data(), 3);
    EXPECT_EQ(sums, (std::vector<float>{-61.5f, 63.5f, 0x1p24f + 4})) << set->name;
    EXPECT_EQ(values, sums) << set->name;
    set->subtract(values.data(), before.data(), values.data(), 3);
    EXPECT_EQ(values, (std::vector<float>{-63.0f, 65.5f, 4.0f})) << set->name;
  }
}

TEST(Epilogues, Bfloat16IsTheNearestWithTiesToEven) {
  const std::vector<float> values = {0.0f,      -0.0f,       1.0f,       0x1.01p0f,   0x1.03p0f,
                                     0x1.02p0f, 0x1.0102p0f, -0x1.03p0f, 0x1.fep127f, 0x1p-140f};
  const std::vector<uint16_t> expected = {0x0000, 0x8000, 0x3f80, 0x3f80, 0x3f82,
                                          0x3f81, 0x3f81, 0xbf82, 0x7f7f, 0x0000};
  for (const EpilogueSet* set : available_epilogues())
    for (const size_t count : {size_t{1}, size_t{7}, values.size(), 10 * values.size() + 3}) {
      std::vector<float> many(count);
      std::vector<uint16_t> got(count);
      for (size_t i = 0; i < count; ++i) many[i] = values[i % values.size()];
      set->to_bf16(many.data(), got.data(), static_cast<int64_t>(count));
      for (size_t i = 0; i < count; ++i)
        EXPECT_EQ(got[i], expected[i % values.size()]) << set->name << " " << many[i];
    }
}

TEST(Epilogues, ColumnsAreAddedAndNormedInTheOrderOfRows) {
  constexpr int64_t kRows = 7;
  constexpr float kEps = 1e-5f;
  for (const int64_t count : kSizes) {
    const auto y = sample(kRows * count, 5);
    const int64_t stride = count + 2;
    const auto before = sample(kRows * stride, 6);
    auto expected = before;
    for (int64_t c = 0; c < count; ++c) {
      float squares = 0;
      for (int64_t r = 0; r < kRows; ++r) {
        float& value = expected[static_cast<size_t>(r * stride + c)];
        value += y[static_cast<size_t>(r * count + c)];
        squares += value * value;
      }
      const float scale = 1.0f / std::sqrt(squares / static_cast<float>(kRows) + kEps);
      for (int64_t r = 0; r < kRows; ++r) expected[static_cast<size_t>(r * stride + c)] *= scale;
    }
    for (const EpilogueSet* set : available_epilogues()) {
      auto got = before;
      set->add_norm_columns(got.data(), stride, y.data(), kRows, count, kEps);
      EXPECT_EQ(got, expected) << set->name << " " << count;
    }
  }
}

struct Shares {
  int32_t sum;
  std::vector<uint8_t> codes;
};

Shares shares_of(const EpilogueSet& set, const std::vector<float>& scores, float scale,
                 uint8_t flip = 0) {
  Shares shares{0, std::vector<uint8_t>(scores.size() + 1, 77)};
  shares.sum = set.share_codes(scores.data(), std::ssize(scores), scale, flip, shares.codes.data());
  EXPECT_EQ(shares.codes.back(), 77) << "wrote beyond the row";
  shares.codes.pop_back();
  return shares;
}

TEST(Epilogues, ShareCodesRoundPowersOfTwo) {
  for (const int64_t count : kSizes)
    for (const float scale : {0.125f, 1.0f}) {
      const auto scores = sample(count, 8);
      const Shares shares = shares_of(epilogues(), scores, scale);
      float largest = scores[0] * scale;
      for (const float score : scores) largest = std::max(largest, score * scale);
      int32_t sum = 0;
      for (size_t i = 0; i < scores.size(); ++i) {
        const float t = scores[i] * scale - largest;
        // Half a code, and the polynomial's 1.02e-4 with some float32 rounding.
        EXPECT_NEAR(shares.codes[i], 255 * std::exp2(double{t}), 0.5 + 255 * 1.03e-4);
        if (t == 0) {
          EXPECT_EQ(shares.codes[i], 255);
        }
        sum += shares.codes[i];
      }
      EXPECT_EQ(shares.sum, sum);
    }
}

TEST(Epilogues, ShareCodesAreTheSameInEverySetAndFlipped) {
  for (const int64_t count : kSizes) {
    const auto scores = sample(count, 9);
    const Shares expected = shares_of(*available_epilogues().back(), scores, 0.3f);
    for (const EpilogueSet* set : available_epilogues()) {
      const Shares got = shares_of(*set, scores, 0.3f);
      EXPECT_EQ(got.codes, expected.codes) << set->name;
      EXPECT_EQ(got.sum, expected.sum) << set->name;
      Shares flipped = shares_of(*set, scores, 0.3f, 0x80);
      EXPECT_EQ(flipped.sum, expected.sum) << set->name;
      for (uint8_t& code : flipped.codes) code ^= 0x80;
      EXPECT_EQ(flipped.codes, expected.codes) << set->name;
    }
  }
}

TEST(Epilogues, ScoresThatAreNotFiniteGiveNoShares) {
  const float inf = std::numeric_limits<float>::infinity();
  for (const EpilogueSet* set : available_epilogues())
    for (const int64_t count : kSizes)
      for (const float bad : {inf, -inf, std::nanf(""), -std::nanf(""), 3e38f})
        for (const int64_t at : {int64_t{0}, count / 2, count - 1}) {
          auto scores = sample(count, 10);
          scores[static_cast<size_t>(at)] = bad;
          const float scale = 2.0f;  // 3e38 becomes infinite
          const Shares shares = shares_of(*set, scores, scale, 0x80);
          EXPECT_EQ(shares.sum, 0) << set->name << " " << count << " " << bad << " at " << at;
          for (const uint8_t code : shares.codes) EXPECT_EQ(code, 0x80);
          set->softmax(scores.data(), count, scale);
          for (const float share : scores) EXPECT_TRUE(std::isnan(share)) << set->name;
        }
}

TEST(Epilogues, TheLargestFiniteScoresGiveShares) {
  for (const EpilogueSet* set : available_epilogues()) {
    std::vector<float> scores = {3e38f, -3e38f, 0.0f};
    const Shares shares = shares_of(*set, scores, 1.0f);
    EXPECT_EQ(shares.sum, 255) << set->name;
    set->softmax(scores.data(), std::ssize(scores), 1.0f);
    EXPECT_EQ(scores[0], 1.0f) << set->name;
  }
}

struct Shape {
  int64_t m, k, n;
};

/// Rows and columns that fill no tile, one, one and a bit, and several.
constexpr Shape kProducts[] = {{1, 1, 1},    {5, 3, 7},    {12, 32, 32},
                               {13, 32, 33}, {25, 97, 64}, {49, 8, 103}};

/// One of the two products of a set, and the sum that it takes a step with.
struct ProductKind {
  void (*EpilogueSet::*multiply)(const FloatProductArgs& args) noexcept;
  float (*step)(float a, float b, float sum);
};
const ProductKind kProductKinds[] = {
    {&EpilogueSet::multiply, [](float a, float b, float sum) { return std::fma(a, b, sum); }},
    {&EpilogueSet::multiply_rounded, [](float a, float b, float sum) {
       const float product = a * b;
       return sum + product;
     }}};

void expect_product_in_every_set(const ProductKind& kind) {
  for (const Shape& shape : kProducts) {
    FloatProductArgs args{};
    args.m = shape.m;
    args.k = shape.k;
    args.n = shape.n;
    args.a_stride = args.k + 2;
    args.b_stride = args.n + 5;
    args.c_stride = args.n + 1;
    const auto a = sample(args.m * args.a_stride, 6);
    const auto b = sample(args.k * args.b_stride, 7);
    std::vector<float> expected(static_cast<size_t>(args.m * args.c_stride), 42.0f);
    for (int64_t row = 0; row < args.m; ++row)
      for (int64_t column = 0; column < args.n; ++column) {
        float sum = 0;
        for (int64_t k = 0; k < args.k; ++k)
          sum = kind.step(a[static_cast<size_t>(row * args.a_stride + k)],
                          b[static_cast<size_t>(k * args.b_stride + column)], sum);
        expected[static_cast<size_t>(row * args.c_stride + column)] = sum;
      }
    args.a = a.data();
    args.b = b.data();
    for (const EpilogueSet* set : available_epilogues()) {
      std::vector<float> c(expected.size(), 42.0f);
      args.c = c.data();
      (set->*kind.multiply)(args);
      EXPECT_EQ(c, expected) << set->name << " " << args.m << " x " << args.k << " x " << args.n;
    }
  }
}

TEST(Epilogues, ProductsFuseInOrderInEverySet) { expect_product_in_every_set(kProductKinds[0]); }
TEST(Epilogues, ProductsRoundInOrderInEverySet) { expect_product_in_every_set(kProductKinds[1]); }

// Relative error: exp 2e-7 in the numerator and 1e-7 in the denominator, where it is at most half;
// a sum, a division and two products 2^-24 each.
constexpr double kSiluError = 3e-7 + 4 * 0x1p-24;

TEST(Epilogues, SiluMulIsAccurate) {
  for (const int64_t count : kSizes) {
    const auto gate = sample(count, 1);
    const auto up = sample(count, 2);
    const auto out = run_all(epilogues(), count)[2];
    for (size_t i = 0; i < out.size(); ++i) {
      const double x = gate[i];
      const double expected = x / (1 + std::exp(-x)) * up[i];
      // Beyond exp's clamp the result is below 1e-30 either way.
      EXPECT_NEAR(out[i], expected, kSiluError * std::abs(expected) + 1e-30) << x;
    }
  }
}

// Sums of n squares: n * 2^-24 at most; sum, quotient, root, reciprocal and product add five more.
double norm_error(int64_t count) { return static_cast<double>(count + 5) * 0x1p-24; }

TEST(Epilogues, AddNormIsAccurate) {
  for (const int64_t count : kSizes) {
    const auto h = sample(count, 3);
    const auto y = sample(count, 1);
    const auto out = run_all(epilogues(), count)[3];
    double squares = 0;
    for (size_t i = 0; i < out.size(); ++i) squares += std::pow(double{h[i]} + y[i], 2);
    const double root = std::sqrt(squares / static_cast<double>(count) + 1e-5);
    for (size_t i = 0; i < out.size(); ++i) {
      const double expected = (double{h[i]} + y[i]) / root;
      EXPECT_NEAR(out[i], expected, norm_error(count) * std::abs(expected));
    }
  }
}

TEST(Epilogues, AddNormColumnsNormalizesEachColumnAndLeavesTheRestAlone) {
  constexpr int64_t kRows = 5;
  for (const int64_t count : kSizes) {
    const int64_t stride = count + 3;
    const auto h = sample(kRows * stride, 4);
    const auto y = sample(kRows * count, 5);
    const auto out = run_all(epilogues(), count)[5];
    for (int64_t c = 0; c < stride; ++c) {
      const auto sum = [&](int64_t r) {
        return double{h[static_cast<size_t>(r * stride + c)]} +
               y[static_cast<size_t>(r * count + c)];
      };
      double squares = 0;
      for (int64_t r = 0; c < count && r < kRows; ++r) squares += sum(r) * sum(r);
      const double root = std::sqrt(squares / kRows + 1e-5);
      for (int64_t r = 0; r < kRows; ++r) {
        const float actual = out[static_cast<size_t>(r * stride + c)];
        if (c >= count) {
          EXPECT_EQ(actual, h[static_cast<size_t>(r * stride + c)]);
        } else {
          EXPECT_NEAR(actual, sum(r) / root, norm_error(kRows) * std::abs(sum(r) / root));
        }
      }
    }
  }
}

TEST(Epilogues, SoftmaxIsAccurate) {
  for (const int64_t count : kSizes) {
    const auto values = sample(count, 3);
    const auto out = run_all(epilogues(), count)[4];
    double total = 0;
    for (const float value : values) total += std::exp(0.125 * double{value} - 25);
    for (size_t i = 0; i < out.size(); ++i) {
      const double expected = std::exp(0.125 * double{values[i]} - 25) / total;
      // Rounding an exponent of at most 50 by 2^-24 moves exp by 50 * 2^-24; then as above.
      const double error = 50 * 0x1p-24 + 2e-7 + static_cast<double>(count + 3) * 0x1p-24;
      EXPECT_NEAR(out[i], expected, 2 * error * expected);
    }
  }
}

}  // namespace
}  // namespace driftless::loop
