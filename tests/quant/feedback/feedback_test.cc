// SPDX-License-Identifier: Apache-2.0
#include "driftless/quant/feedback/feedback.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "driftless/quant/feedback/factors.h"
#include "driftless/quant/packed.h"

#include "tests/testing/expect_error.h"
#include "tests/testing/sample_values.h"

namespace driftless::quant {
namespace {

/// Rows that go together: each value is in part its neighbor.
std::vector<float> correlated_rows(int64_t rows, int64_t cols, uint64_t seed) {
  std::vector<float> values = testing::gaussian_values(rows * cols, seed);
  for (int64_t i = 0; i < rows * cols; ++i)
    if (i % cols != 0) values[static_cast<size_t>(i)] += 0.9f * values[static_cast<size_t>(i - 1)];
  return values;
}

InputMoments moments_of(const std::vector<float>& rows, int64_t cols) {
  InputMoments moments;
  moments.add({rows.data(), std::ssize(rows) / cols, cols});
  return moments;
}

std::vector<float> values_of(const QuantizedMatrix& matrix) {
  std::vector<float> values(matrix.codes.size());
  dequantize(matrix, {values.data(), matrix.rows, matrix.cols});
  return values;
}

/// Inverse by elimination with the largest pivot of each column.
std::vector<double> inverse(std::vector<double> a, size_t n) {
  std::vector<double> b(n * n);
  for (size_t i = 0; i < n; ++i) b[i * n + i] = 1;
  for (size_t c = 0; c < n; ++c) {
    size_t best = c;
    for (size_t r = c; r < n; ++r)
      if (std::abs(a[r * n + c]) > std::abs(a[best * n + c])) best = r;
    for (size_t j = 0; j < n; ++j) {
      std::swap(a[c * n + j], a[best * n + j]);
      std::swap(b[c * n + j], b[best * n + j]);
    }
    const double pivot = a[c * n + c];
    for (size_t j = 0; j < n; ++j) {
      a[c * n + j] /= pivot;
      b[c * n + j] /= pivot;
    }
    for (size_t r = 0; r < n; ++r) {
      if (r == c) continue;
      const double factor = a[r * n + c];
      for (size_t j = 0; j < n; ++j) {
        a[r * n + j] -= factor * a[c * n + j];
        b[r * n + j] -= factor * b[c * n + j];
      }
    }
  }
  return b;
}

/// The damped second moments, in float64.
std::vector<double> damped(const std::vector<float>& rows, size_t n) {
  std::vector<double> a(n * n);
  for (size_t r = 0; r < rows.size() / n; ++r)
    for (size_t i = 0; i < n; ++i)
      for (size_t j = 0; j < n; ++j)
        a[i * n + j] += static_cast<double>(rows[r * n + i]) * static_cast<double>(rows[r * n + j]);
  double trace = 0;
  for (size_t i = 0; i < n; ++i) trace += a[i * n + i];
  for (size_t i = 0; i < n; ++i) a[i * n + i] += kFeedbackDamping * trace / static_cast<double>(n);
  return a;
}

/// The same by its definition: round the first weight, give the others the values that are best for
/// it, by the inverse of the moments of those that are left; then do the same with these.
std::vector<float> dense_reference(const std::vector<float>& weight,
                                   const std::vector<float>& inputs, float scale) {
  const size_t n = weight.size();
  const std::vector<double> a = damped(inputs, n);
  std::vector<double> w(weight.begin(), weight.end());
  std::vector<float> out;
  for (size_t k = 0; k < n; ++k) {
    const float q =
        std::clamp(std::nearbyint(static_cast<float>(w[k]) / scale), -7.0f, 7.0f) * scale;
    out.push_back(q);
    const double error = w[k] - static_cast<double>(q);
    const size_t left = n - k - 1;
    std::vector<double> rest(left * left);
    for (size_t i = 0; i < left; ++i)
      for (size_t j = 0; j < left; ++j) rest[i * left + j] = a[(k + 1 + i) * n + k + 1 + j];
    rest = inverse(rest, left);
    for (size_t i = 0; i < left; ++i)
      for (size_t j = 0; j < left; ++j)
        w[k + 1 + i] += error * a[k * n + k + 1 + j] * rest[j * left + i];
  }
  return out;
}

double output_error(const std::vector<float>& exact, const std::vector<float>& rounded,
                    const std::vector<float>& inputs) {
  const size_t n = exact.size();
  double sum = 0;
  for (size_t r = 0; r < inputs.size() / n; ++r) {
    double error = 0;
    for (size_t i = 0; i < n; ++i)
      error += static_cast<double>(inputs[r * n + i]) * static_cast<double>(exact[i] - rounded[i]);
    sum += error * error;
  }
  return sum;
}

TEST(Feedback, TwoWeightsByHand) {
  // Inputs (1, 1) and (1, -1) in shares 3 to 1: moments 4 and off the diagonal 2; the damping adds
  // 0.04. Scale 1 from the weight of 7. The first weight, 0.4, becomes 0; the second should become
  // 6.6 + 0.4 * 2 / 4.04 = 6.798 and is 7; from 6.4 it is 6.598, so 7 as well, where the nearest
  // code is 6.
  const std::vector<float> inputs = {1, 1, 1, 1, 1, 1, 1, -1};
  const Quantizer quantizer(parse_quant_spec("int4/channel/static"), {Scale{.scale = 1}});
  for (const float second : {6.6f, 6.4f}) {
    const std::vector<float> weight = {0.4f, second};
    const FeedbackResult result =
        quantize_with_feedback(quantizer, {weight.data(), 1, 2}, moments_of(inputs, 2));
    EXPECT_EQ(values_of(result.matrix), (std::vector<float>{0, 7})) << second;
    EXPECT_EQ(result.damping, kFeedbackDamping);
    EXPECT_EQ(result.unseen, 0);
  }
}

TEST(Feedback, EqualsTheDenseReference) {
  constexpr int64_t kLength = 23;
  const std::vector<float> inputs = correlated_rows(200, kLength, 3);
  const Quantizer quantizer(parse_quant_spec("int4/channel/static"), {Scale{.scale = 0.25f}});
  for (uint64_t seed = 0; seed < 8; ++seed) {
    const std::vector<float> weight = testing::gaussian_values(kLength, seed);
    const FeedbackResult result =
        quantize_with_feedback(quantizer, {weight.data(), 1, kLength}, moments_of(inputs, kLength));
    EXPECT_EQ(values_of(result.matrix), dense_reference(weight, inputs, 0.25f)) << seed;
  }
}

TEST(Feedback, IndependentInputsRoundToNearest) {
  // Moments without anything off the diagonal: nothing to make up for.
  std::vector<float> inputs(64 * 64);
  for (size_t i = 0; i < 64; ++i) inputs[i * 65] = 2;
  const std::vector<float> weight = testing::gaussian_values(3 * 64, 5);
  for (const char* text : {"mxint4", "mxint4,rule=mse,window=2", "int4/block32,scale=e5m3,rule=mse",
                           "int4_full/block32,scale=s4m3,window=0", "int4/channel", "int4/tensor",
                           "uint4/group16", "nvfp4", "mxfp4"}) {
    const Quantizer quantizer(parse_quant_spec(text));
    const ConstMat view{weight.data(), 3, 64};
    EXPECT_EQ(values_of(quantize_with_feedback(quantizer, view, moments_of(inputs, 64)).matrix),
              values_of(quantizer.quantize(view)))
        << text;
  }
}

TEST(Feedback, OutputsComeCloserThanByNearest) {
  constexpr int64_t kLength = 96;
  const std::vector<float> inputs = correlated_rows(500, kLength, 8);
  const std::vector<float> weight = testing::gaussian_values(kLength, 9);
  for (const char* text :
       {"mxint4", "mxint4,window=4", "int4/block32,scale=e5m3", "int4/block32,scale=e5m3,window=0",
        "int4_full/block32,scale=s4m3,window=0", "int3/block16,scale=fp16", "nvfp4"}) {
    const Quantizer quantizer(parse_quant_spec(text));
    const ConstMat view{weight.data(), 1, kLength};
    const auto rounded = quantize_with_feedback(quantizer, view, moments_of(inputs, kLength));
    const double nearest = output_error(weight, values_of(quantizer.quantize(view)), inputs);
    EXPECT_LT(output_error(weight, values_of(rounded.matrix), inputs), 0.7 * nearest) << text;
    EXPECT_EQ(unpack(pack(rounded.matrix)).codes, rounded.matrix.codes) << text;
  }
}

TEST(Feedback, ThreadsDoNotMatter) {
  const std::vector<float> inputs = correlated_rows(300, 64, 1);
  const std::vector<float> weight = testing::gaussian_values(9 * 64, 2);
  const Quantizer quantizer(parse_quant_spec("mxint4,window=4"));
  const InputMoments moments = moments_of(inputs, 64);
  const ConstMat view{weight.data(), 9, 64};
  for (const Then then : {Then::Nothing, Then::Descent})
    EXPECT_EQ(quantize_with_feedback(quantizer, view, moments, then, 1).matrix.codes,
              quantize_with_feedback(quantizer, view, moments, then, 3).matrix.codes);
}

TEST(Descent, TwoWeightsByHand) {
  // The moments of Feedback.TwoWeightsByHand: 4.04, and 2 off the diagonal. Feedback makes 0.4 a 0
  // and clips the second weight at 7, 0.9 below what it should be. The first is best at
  // 0 + (0.4 * 4.04 + 0.9 * 2) / 4.04 = 0.85 then, so 1, and the second still at 7.60.
  const std::vector<float> inputs = {1, 1, 1, 1, 1, 1, 1, -1};
  const std::vector<float> weight = {0.4f, 7.9f};
  const Quantizer quantizer(parse_quant_spec("int4/channel/static"), {Scale{.scale = 1}});
  const ConstMat view{weight.data(), 1, 2};
  const InputMoments moments = moments_of(inputs, 2);
  EXPECT_EQ(values_of(quantize_with_feedback(quantizer, view, moments).matrix),
            (std::vector<float>{0, 7}));
  EXPECT_EQ(values_of(quantize_with_feedback(quantizer, view, moments, Then::Descent).matrix),
            (std::vector<float>{1, 7}));
}

TEST(Descent, EndsWhereNoSingleCodeIsBetter) {
  constexpr size_t kLength = 40;
  // Ten sources in all inputs, so that all errors meet.
  std::vector<float> inputs = testing::gaussian_values(300 * kLength, 8);
  const std::vector<float> sources = testing::gaussian_values(300 * 10, 3);
  const std::vector<float> shares = testing::gaussian_values(10 * kLength, 4);
  for (size_t i = 0; i < inputs.size(); ++i)
    for (size_t s = 0; s < 10; ++s)
      inputs[i] += sources[i / kLength * 10 + s] * shares[s * kLength + i % kLength];
  const std::vector<double> a = damped(inputs, kLength);
  const std::vector<float> weight = testing::gaussian_values(2 * kLength, 9);
  const auto cost = [&](std::span<const float> exact, std::span<const float> rounded) {
    double sum = 0;
    for (size_t i = 0; i < kLength; ++i)
      for (size_t j = 0; j < kLength; ++j)
        sum += static_cast<double>(exact[i] - rounded[i]) * a[i * kLength + j] *
               static_cast<double>(exact[j] - rounded[j]);
    return sum;
  };
  int64_t changed = 0;
  for (const char* text :
       {"mxint4", "mxint4,window=2", "int4/block32,scale=e5m3,rule=mse", "uint4/group16", "nvfp4",
        "int4_full/block32,scale=s4m3,window=0", "int3/channel", "int4/tensor"}) {
    SCOPED_TRACE(text);
    const Quantizer quantizer(parse_quant_spec(text));
    const ConstMat view{weight.data(), 2, kLength};
    const InputMoments moments = moments_of(inputs, kLength);
    const QuantizedMatrix before = quantize_with_feedback(quantizer, view, moments).matrix;
    QuantizedMatrix after = quantize_with_feedback(quantizer, view, moments, Then::Descent).matrix;
    changed += after.codes == before.codes ? 0 : 1;
    const std::vector<float> values = values_of(after);
    for (size_t row = 0; row < 2; ++row) {
      const auto of_row = [&](const std::vector<float>& all) {
        return std::span(all).subspan(row * kLength, kLength);
      };
      const double least = cost(of_row(weight), of_row(values));
      EXPECT_LE(least, cost(of_row(weight), of_row(values_of(before))));
      for (size_t i = row * kLength; i < (row + 1) * kLength; ++i) {
        const uint8_t kept = after.codes[i];
        for (int code = 0; code < 1 << after.spec.format->element.bits; ++code) {
          after.codes[i] = static_cast<uint8_t>(code);
          // Sums of 1,600 products in float64.
          EXPECT_GE(cost(of_row(weight), of_row(values_of(after))), least * (1 - 1e-12)) << code;
        }
        after.codes[i] = kept;
      }
    }
  }
  EXPECT_GT(changed, 4) << "formats whose codes it changed";
}

TEST(Feedback, FollowsExactInputs) {
  // Inputs are half of what they were before they were quantized: weights twice as large make up.
  constexpr int64_t kLength = 32;
  std::vector<float> exact = correlated_rows(400, kLength, 4);
  std::vector<float> inputs = exact;
  for (float& value : inputs) value /= 2;
  InputMoments moments;
  moments.add({inputs.data(), 400, kLength}, {exact.data(), 400, kLength});
  const std::vector<float> weight = testing::gaussian_values(kLength, 6);
  const Quantizer quantizer(parse_quant_spec("int8/channel"));
  const std::vector<float> rounded =
      values_of(quantize_with_feedback(quantizer, {weight.data(), 1, kLength}, moments).matrix);
  double error = 0;
  double size = 0;
  for (size_t i = 0; i < rounded.size(); ++i) {
    error += std::pow(rounded[i] - 2 * weight[i], 2);
    size += std::pow(2 * weight[i], 2);
  }
  // Damping by a hundredth of the mean keeps directions of little weight where they were.
  EXPECT_LT(error, 0.05 * size);
}

TEST(Feedback, SingularMomentsAreDamped) {
  // One row only, an input that is never seen.
  const std::vector<float> inputs = {1, 2, 0, 4};
  const std::vector<float> weight = {0.3f, -0.2f, 0.7f, 0.1f};
  const Quantizer quantizer(parse_quant_spec("int4/channel"));
  const FeedbackResult result =
      quantize_with_feedback(quantizer, {weight.data(), 1, 4}, moments_of(inputs, 4));
  EXPECT_EQ(result.unseen, 1);
  EXPECT_EQ(result.damping, kFeedbackDamping);
  EXPECT_EQ(values_of(result.matrix)[2], 0.7f);
}

TEST(Feedback, RefusesMomentsThatDoNotFit) {
  const std::vector<float> weight = {0.3f, -0.2f};
  const Quantizer quantizer(parse_quant_spec("int4/channel"));
  const ConstMat view{weight.data(), 1, 2};
  EXPECT_ERROR(quantize_with_feedback(quantizer, view, {}), ErrorCode::InvalidArgument,
               "got 0 rows of 0 inputs");
  EXPECT_ERROR(quantize_with_feedback(quantizer, view, moments_of({1, 2, 3}, 3)),
               ErrorCode::InvalidArgument, "of 3 inputs, expected at least one of 2");
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_ERROR(quantize_with_feedback(quantizer, view, moments_of({infinity, 1}, 2)),
               ErrorCode::Numeric, "not finite");
}

TEST(Factors, SolveWhatTheyFactor) {
  constexpr size_t kLength = 17;
  const std::vector<double> a = damped(correlated_rows(100, kLength, 7), kLength);
  const auto factors = factorize(a, kLength);
  ASSERT_TRUE(factors);
  std::vector<double> wanted(kLength);
  std::iota(wanted.begin(), wanted.end(), -3.0);
  std::vector<double> b(kLength);
  for (size_t i = 0; i < kLength; ++i)
    for (size_t j = 0; j < kLength; ++j) b[j] += wanted[i] * a[i * kLength + j];
  factors->solve(b);
  for (size_t i = 0; i < kLength; ++i) EXPECT_NEAR(b[i], wanted[i], 1e-8);
  EXPECT_FALSE(factorize({1, 2, 2, 1}, 2));
}

TEST(Moments, PartsAddUp) {
  const std::vector<float> rows = correlated_rows(40, 11, 2);
  InputMoments all = moments_of(rows, 11);
  InputMoments first;
  first.add({rows.data(), 25, 11});
  InputMoments second;
  second.add({rows.data() + 25 * 11, 15, 11});
  first.merge(second);
  first.merge({});
  EXPECT_EQ(first.rows(), 40);
  const auto a = all.squares();
  const auto b = first.squares();
  for (size_t i = 0; i < 11; ++i) {
    for (size_t j = 0; j < 11; ++j) {
      EXPECT_EQ(a[i * 11 + j], a[j * 11 + i]);
      // Sums of at most 40 products in float32.
      EXPECT_NEAR(a[i * 11 + j], b[i * 11 + j], 40 * 0x1p-23 * std::sqrt(a[i * 12] * a[j * 12]));
    }
  }
}

}  // namespace
}  // namespace driftless::quant
