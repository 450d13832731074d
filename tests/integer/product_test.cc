// SPDX-License-Identifier: Apache-2.0
// Every kernel set, one to three threads: the sums are those of 64-bit arithmetic on the values
// that the quantizer says the codes have.
#include "driftless/integer/product.h"

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/integer/samples.h"
#include "tests/testing/expect_error.h"

namespace driftless::integer {
namespace {

struct Pair {
  const char* left;
  const char* right;
};
constexpr const char* kE5m3 = "int4/block32,scale=e5m3,window=0";
constexpr const char* kE4m4 = "int3/block32,scale=e4m4,window=1";
constexpr const char* kS4m3 = "int4_full/block32,scale=s4m3,window=0";
/// The same with shifts, beside bytes of as many bits as they have.
constexpr const char* kE5m3Shifted = "int4/block32,scale=e5m3,window=4";
constexpr const char* kE4m4Shifted = "int3/block32,scale=e4m4,window=4";
constexpr const char* kS4m3Shifted = "int4_full/block32,scale=s4m3,window=3";
constexpr const char* kTwoBits = "int2_full/block32,scale=s4m3,window=3";

/// Whole sums, sums per block on either side or both, two planes of digits, float scales.
constexpr Pair kPairs[] = {
    {"mxint4,window=4", "mxint4,window=4"},
    {"mxint4,window=7", "mxint4,window=7"},
    {"mxint4,window=4", "mxint4,window=6"},
    {"mxint4,window=6", "mxint4,window=3"},
    {"mxint8,window=3", "mxint8,window=3"},
    {"mxint8,window=0", "mxint4,window=4"},
    {"int8/token", "int8_full/channel"},
    {"mxint3,window=5", "mxint8,window=4"},
    {"int4/tensor", "mxint6,window=1"},
    {kE5m3, kE5m3},
    {kS4m3, kS4m3},
    {"mxint8,window=3", kE5m3},
    {kE4m4, "mxint4,window=4"},
    {kS4m3, "int8/channel"},
    {kE5m3Shifted, kE5m3Shifted},
    {kS4m3Shifted, kS4m3Shifted},
    {kS4m3, kS4m3Shifted},
    {kS4m3Shifted, kE5m3},
    {kE4m4Shifted, "mxint4,window=4"},
    {"int8/token", kE4m4Shifted},
    {kTwoBits, "mxint8,window=3"},
};

ThreadPool& pool_of(int64_t threads) {
  static ThreadPool pools[] = {ThreadPool(1), ThreadPool(2), ThreadPool(3)};
  return pools[threads - 1];
}

/// Checks sums and floats of left (m x k) times right (n x k) on every set and thread count.
void expect_exact(const quant::QuantizedMatrix& left, const quant::QuantizedMatrix& right,
                  std::initializer_list<int64_t> thread_counts) {
  const int64_t m = left.rows;
  const int64_t n = right.rows;
  std::vector<int64_t> expected;
  for (const KernelSet* set : available_kernels()) {
    SCOPED_TRACE(set->name);
    const RowMatrix rows = make_rows(left, *set);
    const PanelMatrix panels = make_panels(right, *set);
    if (expected.empty()) {
      expected = exact_product(integers_of(left, rows.scales.data()),
                               integers_of(right, panels.scales.data()), left.cols);
    }
    for (const int64_t threads : thread_counts) {
      std::vector<int32_t> sums(expected.size(), 77);
      std::vector<float> products(expected.size(), 77.0f);
      multiply_exact(rows, panels, {sums.data(), m, n}, pool_of(threads));
      multiply(rows, panels, {products.data(), m, n}, pool_of(threads));
      for (size_t i = 0; i < expected.size(); ++i) {
        ASSERT_EQ(sums[i], expected[i]) << threads << " threads, output " << i;
        const float scale =
            rows.scales[i / static_cast<size_t>(n)] * panels.scales[i % static_cast<size_t>(n)];
        const float product = static_cast<float>(sums[i]) * scale;
        ASSERT_EQ(std::memcmp(&products[i], &product, sizeof(float)), 0) << "output " << i;
      }
    }
  }
}

TEST(Product, IsExactForEveryKindOfData) {
  uint64_t seed = 1;
  for (const Pair& pair : kPairs) {
    for (const Kind left : kKinds) {
      for (const Kind right : kKinds) {
        SCOPED_TRACE(std::string(pair.left) + " x " + pair.right + ", kinds " +
                     std::to_string(static_cast<int>(left)) + " " +
                     std::to_string(static_cast<int>(right)));
        expect_exact(sample_matrix(pair.left, {23, 130}, left, seed),
                     sample_matrix(pair.right, {37, 130}, right, seed + 1), {1});
        seed += 2;
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST(Product, IsExactForEveryReductionLength) {
  for (int64_t k = 1; k <= 200; ++k) {
    const auto at = static_cast<size_t>(k) % std::size(kPairs);
    for (const Pair& pair : {kPairs[0], kPairs[at]}) {
      SCOPED_TRACE(std::string(pair.left) + " x " + pair.right + ", k " + std::to_string(k));
      const auto seed = static_cast<uint64_t>(k);
      expect_exact(sample_matrix(pair.left, {19, k}, Kind::Random, seed),
                   sample_matrix(pair.right, {33, k}, Kind::Random, seed + 1), {1});
      if (HasFatalFailure()) return;
    }
  }
}

TEST(Product, IsExactForEveryNumberOfRows) {
  for (int64_t m = 1; m <= 200; ++m) {
    const Pair& pair = kPairs[static_cast<size_t>(m) % std::size(kPairs)];
    SCOPED_TRACE(std::string(pair.left) + " x " + pair.right + ", rows " + std::to_string(m));
    const auto seed = static_cast<uint64_t>(m);
    expect_exact(sample_matrix(pair.left, {m, 37}, Kind::Random, seed),
                 sample_matrix(pair.right, {17, 37}, Kind::Random, seed + 1), {1 + m % 3});
    if (HasFatalFailure()) return;
  }
}

TEST(Product, IsExactForEveryNumberOfColumns) {
  for (int64_t n = 1; n <= 100; ++n) {
    const auto seed = static_cast<uint64_t>(n);
    SCOPED_TRACE("columns " + std::to_string(n));
    expect_exact(sample_matrix("mxint4,window=4", {21, 41}, Kind::Random, seed),
                 sample_matrix("mxint4,window=4", {n, 41}, Kind::Random, seed + 1), {1 + n % 3});
    if (HasFatalFailure()) return;
  }
}

TEST(Product, IsTheSameForOneToThreeThreads) {
  for (const Pair& pair : kPairs) {
    SCOPED_TRACE(std::string(pair.left) + " x " + pair.right);
    expect_exact(sample_matrix(pair.left, {97, 96}, Kind::Random, 5),
                 sample_matrix(pair.right, {100, 96}, Kind::Random, 6), {1, 2, 3});
  }
}

TEST(Product, HoldsTheLargestSumOfTheLongestReduction) {
  // -128 * -128 * 131071 is the last one below 2^31.
  const int64_t k = largest_k({4, 4}, {4, 4});
  EXPECT_EQ(k, 131071);
  EXPECT_EQ(largest_k({8, 3}, {8, 3}), 2047);
  EXPECT_EQ(largest_k({8, 10}, {8, 10}), 0);
  for (const Kind right : {Kind::Lowest, Kind::Largest}) {
    auto a = sample_matrix("mxint4,window=4", {16, k}, Kind::Lowest, 1);
    auto b = sample_matrix("mxint4,window=4", {3, k}, right, 2);
    std::fill(a.scales.codes.begin(), a.scales.codes.end(), uint8_t{100});
    std::fill(b.scales.codes.begin(), b.scales.codes.end(), uint8_t{120});
    expect_exact(a, b, {1});
  }
}

TEST(Product, OfTheScalesIsTheValue) {
  // One value 1.75 * 2^3 times one value -0.5 * 2^-1, whatever the window.
  for (const char* spec : {"mxint4", "mxint4,window=4", "mxint4,window=6"}) {
    quant::QuantizedMatrix a{.spec = quant::parse_quant_spec(spec), .rows = 1, .cols = 1};
    quant::QuantizedMatrix b = a;
    a.codes = {7};
    a.scales.codes = {130};
    b.codes = {14};
    b.scales.codes = {126};
    float out = 0;
    multiply(make_rows(a, kScalarKernels), make_panels(b, kScalarKernels), {&out, 1, 1},
             pool_of(1));
    EXPECT_EQ(out, 14.0f * -0.25f) << spec;
  }
}

TEST(Product, RefusesWhatDoesNotFit) {
  const auto a = sample_matrix("mxint4,window=4", {3, 40}, Kind::Random, 1);
  const auto b = sample_matrix("mxint4,window=4", {21, 41}, Kind::Random, 1);
  const auto c = sample_matrix("mxint8,window=10", {5, 40}, Kind::Random, 1);
  std::vector<float> out(15);
  const RowMatrix rows = make_rows(a, kScalarKernels);
  const auto multiply_by = [&](const quant::QuantizedMatrix& right, int64_t cols) {
    multiply(rows, make_panels(right, kScalarKernels), {out.data(), 3, cols}, pool_of(1));
  };
  EXPECT_ERROR(multiply_by(b, 5), ErrorCode::InvalidArgument, "reduction lengths; got 40 and 41");
  EXPECT_ERROR(multiply_by(a, 5), ErrorCode::InvalidArgument, "expected 3 x 3");
  EXPECT_NO_THROW(multiply_by(c, 5));
  const auto d = sample_matrix("mxint8,window=10", {3, 40}, Kind::Random, 1);
  EXPECT_ERROR(multiply(make_rows(d, kScalarKernels), make_panels(c, kScalarKernels),
                        {out.data(), 3, 5}, pool_of(1)),
               ErrorCode::Unsupported, "smaller window");
  const KernelSet other = kScalarKernels;
  EXPECT_ERROR(multiply(rows, make_panels(a, other), {out.data(), 3, 3}, pool_of(1)),
               ErrorCode::InvalidArgument, "kernel sets");
}

/// Rows of blocks whose codes and scales are chosen, as the integers that they stand for.
struct HandMade {
  quant::QuantizedMatrix matrix;
  std::vector<int64_t> integers;  // over the rows' units
};

/// m / 2^shift to nearest, ties to even.
int64_t shifted_to_even(int64_t m, int64_t shift) {
  const int64_t unit = int64_t{1} << shift;
  const int64_t whole = std::abs(m) / unit;
  const int64_t rest = std::abs(m) % unit * 2;
  const int64_t rounded = whole + (rest > unit || (rest == unit && whole % 2 == 1) ? 1 : 0);
  return m < 0 ? -rounded : rounded;
}

/// Blocks 0 to window + 2 octaves below the first one, whose scales are 8 to 15 eighths of their
/// octave with either sign; every fourth one is zero.
HandMade hand_made(Shape shape, int64_t window, uint64_t seed) {
  const std::string spec = "int4_full/block32,scale=s4m3,window=" + std::to_string(window);
  HandMade made{{.spec = quant::parse_quant_spec(spec), .rows = shape.rows, .cols = shape.cols},
                {}};
  Rng rng(seed);
  for (int64_t row = 0; row < shape.rows; ++row) {
    for (int64_t first = 0; first < shape.cols; first += 32) {
      const int64_t block = first / 32;
      const int64_t below = block == 0 ? 0 : (row + block) % (window + 3);
      const auto eighths = static_cast<int64_t>(8 + rng.below(8)) * (rng.below(2) == 0 ? 1 : -1);
      made.matrix.scales.floats.push_back(
          {.scale = static_cast<float>(std::ldexp(eighths, static_cast<int>(1 - below)))});
      for (int64_t i = first; i < std::min(first + 32, shape.cols); ++i) {
        const int64_t code = block % 4 == 3 ? 0 : static_cast<int64_t>(rng.below(16)) - 8;
        made.matrix.codes.push_back(static_cast<uint8_t>(code & 15));
        const int64_t shift = window - below;
        made.integers.push_back(shift >= 0 ? code * eighths * (int64_t{1} << shift)
                                           : shifted_to_even(code * eighths, -shift));
      }
    }
  }
  return made;
}

TEST(Product, OfBlocksWithFractionsIsThatOfTheirIntegers) {
  for (const int64_t k : {1, 33, 81, 97, 320})
    for (int64_t window = 0; window <= 4; ++window) {
      SCOPED_TRACE("k " + std::to_string(k) + ", window " + std::to_string(window));
      const HandMade left = hand_made({11, k}, window, 1);
      const HandMade right = hand_made({35, k}, (window + k) % 5, 2);
      const auto expected = exact_product(left.integers, right.integers, k);
      for (const KernelSet* set : available_kernels()) {
        const RowMatrix rows = make_rows(left.matrix, *set);
        EXPECT_EQ(rows.scales[0], std::ldexp(1.0f, static_cast<int>(1 - window)));
        std::vector<int32_t> sums(expected.size());
        multiply_exact(rows, make_panels(right.matrix, *set), {sums.data(), 11, 35}, pool_of(1));
        ASSERT_EQ(std::vector<int64_t>(sums.begin(), sums.end()), expected) << set->name;
      }
    }
}

TEST(Product, RefusesBlocksWithFractionsThatAreTooLong) {
  const auto multiply_with = [](int64_t k, int64_t window) {
    const HandMade a = hand_made({1, k}, window, 1);
    std::vector<int32_t> sum(1);
    const RowMatrix rows = make_rows(a.matrix, kScalarKernels);
    EXPECT_EQ(largest_k(rows.form, rows.form), (INT32_MAX >> 14) >> (2 * window));
    multiply_exact(rows, make_panels(a.matrix, kScalarKernels), {sum.data(), 1, 1});
  };
  EXPECT_NO_THROW(multiply_with(2047, 3));
  EXPECT_ERROR(multiply_with(2048, 3), ErrorCode::Unsupported, "got 2048, expected at most 2047");
  EXPECT_NO_THROW(multiply_with(511, 4));
  EXPECT_ERROR(multiply_with(512, 4), ErrorCode::Unsupported, "smaller window");
}

TEST(RowTiles, AreEven) {
  for (int64_t rows = 1; rows <= 200; ++rows) {
    const RowTiles tiles(rows, 12);
    EXPECT_EQ(tiles.count, (rows + 11) / 12);
    EXPECT_EQ(tiles.first(0), 0);
    EXPECT_EQ(tiles.first(tiles.count), rows);
    for (int64_t i = 0; i < tiles.count; ++i) {
      const int64_t length = tiles.first(i + 1) - tiles.first(i);
      EXPECT_TRUE(length == rows / tiles.count || length == (rows + tiles.count - 1) / tiles.count);
    }
  }
}

}  // namespace
}  // namespace driftless::integer
