// SPDX-License-Identifier: Apache-2.0
#include "driftless/engine/matmul.h"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "driftless/base/rng.h"

namespace driftless::engine {
namespace {

std::vector<float> random_values(int64_t count, uint64_t seed) {
  Rng rng(seed);
  std::vector<float> values;
  for (int64_t i = 0; i < count; ++i) values.push_back(static_cast<float>(rng.gaussian()));
  return values;
}

void expect_product(const MatmulShape& s, bool is_constant) {
  const auto a = random_values(s.m * (s.a.row + s.k), 1);
  const auto b = random_values((s.k + 1) * (s.n + 1) * std::max(s.b.row, s.b.column), 2);
  std::vector<float> c(static_cast<size_t>(s.m * s.c.row), -9.0f);
  const Matmul matmul = Matmul(Dtype::Float32, s, 2, {.b = is_constant ? b.data() : nullptr});
  matmul.run(1, a.data(), is_constant ? nullptr : b.data(), c.data());
  for (int64_t i = 0; i < s.m; ++i)
    for (int64_t j = 0; j < s.c.row; ++j) {
      const float actual = c[static_cast<size_t>(i * s.c.row + j)];
      if (j >= s.n) {
        EXPECT_EQ(actual, -9.0f) << "wrote between the rows";
        continue;
      }
      double expected = 0, magnitude = 0;
      for (int64_t k = 0; k < s.k; ++k) {
        const double product = double{a[static_cast<size_t>(i * s.a.row + k)]} *
                               b[static_cast<size_t>(k * s.b.row + j * s.b.column)];
        expected += product;
        magnitude += std::abs(product);
      }
      // A sum of k products is off by at most k * 2^-24 of the sum of magnitudes.
      EXPECT_NEAR(actual, expected, static_cast<double>(s.k) * 0x1p-24 * magnitude + 1e-30);
    }
}

TEST(Matmul, MultipliesEveryLayoutTheEngineUses) {
  for (const int64_t m : {1, 15, 17, 41})
    for (const int64_t k : {1, 16, 81})
      for (const int64_t n : {11, 64, 97}) {
        SCOPED_TRACE(::testing::Message() << m << " " << k << " " << n);
        expect_product({m, k, n, {k}, transposed(k), {n}}, true);
        expect_product({m, k, n, {k}, {n + 5}, {n}}, false);
        expect_product({m, k, n, {k + 7}, transposed(k + 7), {n + 3}}, false);
      }
}

}  // namespace
}  // namespace driftless::engine
