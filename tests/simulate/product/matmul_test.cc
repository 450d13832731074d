// SPDX-License-Identifier: Apache-2.0
#include "driftless/simulate/product/matmul.h"

#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "driftless/base/rng.h"
#include "driftless/simulate/product/products.h"

#include "tests/testing/expect_error.h"

namespace driftless::simulate {
namespace {

enum class Fixed { None, A, B };

/// The nearest multiple of the last bit that 8 significant bits allow, ties to even.
double to_bf16(double value) {
  int exponent = 0;
  const double fraction = std::frexp(value, &exponent);
  return std::ldexp(std::nearbyint(std::ldexp(fraction, 8)), exponent - 8);
}

/// A matrix whose values lie in memory as the strides say, NaN between and behind them.
struct Operand {
  Operand(int64_t rows, int64_t columns, Strides s, uint64_t seed)
      : strides(s),
        memory(static_cast<size_t>(rows * s.row + columns * s.column + 7),
               std::numeric_limits<float>::quiet_NaN()) {
    Rng rng(seed);
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t c = 0; c < columns; ++c)
        memory[index(r, c)] = static_cast<float>(rng.gaussian());
    memory[index(0, 0)] = 1 + 0x1p-8f;  // a tie between two bfloat16 values
  }
  [[nodiscard]] size_t index(int64_t r, int64_t c) const {
    return static_cast<size_t>(r * strides.row + c * strides.column);
  }
  [[nodiscard]] double at(int64_t r, int64_t c) const { return memory[index(r, c)]; }

  Strides strides;
  std::vector<float> memory;
};

void expect_product(const MatmulShape& s, Dtype dtype, const Operand& a, const Operand& b,
                    const std::vector<float>& c) {
  for (int64_t i = 0; i < s.m; ++i)
    for (int64_t j = 0; j < s.c.row; ++j) {
      const float actual = c[static_cast<size_t>(i * s.c.row + j)];
      if (j >= s.n) {
        EXPECT_EQ(actual, -9.0f) << "wrote between the rows";
        continue;
      }
      double expected = 0, magnitude = 0;
      for (int64_t k = 0; k < s.k; ++k) {
        const bool is_exact = dtype == Dtype::Float32;
        const double product =
            is_exact ? a.at(i, k) * b.at(k, j) : to_bf16(a.at(i, k)) * to_bf16(b.at(k, j));
        expected += product;
        magnitude += std::abs(product);
      }
      // A sum of k products is off by at most k * 2^-24 of the sum of magnitudes.
      ASSERT_NEAR(actual, expected, static_cast<double>(s.k) * 0x1p-24 * magnitude + 1e-30);
    }
}

/// A way to multiply and the numbers it multiplies.
struct Way {
  const char* name;
  Dtype dtype;
  std::unique_ptr<Product> (*make)(const MatmulShape&, int64_t, const Constant&);
};
const Way kWays[] = {
    {"float32", Dtype::Float32, make_float_product},
    {"rounded", Dtype::BFloat16, make_rounded_product},
    {"tiles", Dtype::BFloat16,
     [](const MatmulShape& shape, int64_t workers, const Constant& constant) {
       return make_tile_product(*tile_kernels(), shape, workers, constant);
     }},
    {"plain", Dtype::Float32, make_plain_product},
    {"bf16", Dtype::BFloat16, make_bf16_product},
};

void try_shape(const Way& way, const MatmulShape& s, Fixed fixed) {
  const Operand a(s.m, s.k, s.a, 1);
  const Operand b(s.k, s.n, s.b, 2);
  std::vector<float> c(static_cast<size_t>(s.m * s.c.row), -9.0f);
  const float* const data_a = a.memory.data();
  const float* const data_b = b.memory.data();
  const auto product = way.make(
      s, 2, {.a = fixed == Fixed::A ? data_a : nullptr, .b = fixed == Fixed::B ? data_b : nullptr});
  for (const int64_t worker : {1, 0}) {
    std::fill(c.begin(), c.end(), -9.0f);
    product->run(worker, fixed == Fixed::A ? nullptr : data_a, fixed == Fixed::B ? nullptr : data_b,
                 c.data());
    expect_product(s, way.dtype, a, b, c);
  }
}

class Ways : public ::testing::TestWithParam<Way> {
 protected:
  void SetUp() override {
    if (GetParam().make == kWays[2].make && tile_kernels() == nullptr)
      GTEST_SKIP() << "this processor multiplies no tiles";
    if (GetParam().make == make_bf16_product && !has_bf16_products())
      GTEST_SKIP() << "oneDNN is absent or multiplies bfloat16 no faster here";
  }
};

TEST_P(Ways, MultiplyEveryLayoutTheEngineUses) {
  for (const int64_t m : {1, 15, 17, 41})
    for (const int64_t k : {1, 16, 33, 81})
      for (const int64_t n : {11, 32, 97}) {
        SCOPED_TRACE(::testing::Message() << m << " " << k << " " << n);
        try_shape(GetParam(), {m, k, n, {k}, transposed(k), {n}}, Fixed::B);
        try_shape(GetParam(), {m, k, n, {k}, {n + 5}, {n}}, Fixed::None);
        try_shape(GetParam(), {m, k, n, {k}, {n + 5}, {n + 2}}, Fixed::A);
        try_shape(GetParam(), {m, k, n, {k + 7}, transposed(k + 7), {n + 3}}, Fixed::None);
      }
}

INSTANTIATE_TEST_SUITE_P(All, Ways, ::testing::ValuesIn(kWays),
                         [](const auto& param) { return param.param.name; });

TEST(Matmul, TakesTheNumbersOfItsDtype) {
  const MatmulShape shape = {.m = 1, .k = 1, .n = 1, .a = {1}, .b = {1}, .c = {1}};
  const float a = 1 + 0x1p-10f, b = 1;
  float c = 0;
  Matmul(Dtype::Float32, shape, 1).run(0, &a, &b, &c);
  EXPECT_EQ(c, a);
  Matmul(Dtype::BFloat16, shape, 1, {.a = &a}).run(0, nullptr, &b, &c);
  EXPECT_EQ(c, 1);
}

TEST(Matmul, TurnsAnExceptionOfOnednnIntoAnError) {
  if (DRIFTLESS_HAS_ONEDNN == 0) GTEST_SKIP() << "this build has no oneDNN";
  const MatmulShape shape = {.m = -1, .k = 2, .n = 3, .a = {2}, .b = {3}, .c = {3}};
  EXPECT_ERROR(Matmul(Dtype::Float32, shape, 1), ErrorCode::Unsupported,
               "oneDNN matmul of [-1, 2]");
}

TEST(Dtype, HasNames) {
  for (const auto& row : kDtypeNames) {
    EXPECT_EQ(parse_dtype(row.name), row.value);
    EXPECT_EQ(to_string(row.value), row.name);
  }
  EXPECT_ERROR(parse_dtype("fp16"), ErrorCode::InvalidArgument,
               "'fp16', expected one of f32, bf16");
}

}  // namespace
}  // namespace driftless::simulate
