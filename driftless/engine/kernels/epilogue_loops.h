// SPDX-License-Identifier: Apache-2.0
// The loops behind EpilogueSet, for one instruction set: included once by each file in isa/, which
// names its set. Plain loops of independent lanes; the compiler turns them into vectors. Builtins
// instead of library templates, so that no weak symbol leaves the file.
#include <cstdint>

#include "driftless/engine/kernels/epilogues.h"

namespace driftless::engine {
namespace {

constexpr int64_t kLanes = 16;

/// e^x for |x| <= 87, clamped beyond; relative error below 3e-7. x = n ln2 + r with |r| <= ln2 / 2,
/// e^r by its Taylor polynomial of degree 7 (remainder below 6e-9), 2^n through the exponent bits.
inline float exp_clamped(float x) noexcept {
  constexpr float kLog2e = 1.44269504f;
  constexpr float kLn2High = 0.693359375f;  // few bits, so that n * kLn2High is exact
  constexpr float kLn2Low = -2.12194440e-4f;
  constexpr float kRound = 12582912.0f;  // 1.5 * 2^23: adding it rounds to an integer
  x = x < -87.0f ? -87.0f : x;
  x = x > 87.0f ? 87.0f : x;
  const float shifted = x * kLog2e + kRound;
  const float n = shifted - kRound;
  const float r = (x - n * kLn2High) - n * kLn2Low;
  float p = 1.0f / 5040;
  p = p * r + 1.0f / 720;
  p = p * r + 1.0f / 120;
  p = p * r + 1.0f / 24;
  p = p * r + 1.0f / 6;
  p = p * r + 0.5f;
  p = p * r + 1.0f;
  p = p * r + 1.0f;
  const uint32_t exponent =
      (__builtin_bit_cast(uint32_t, shifted) - __builtin_bit_cast(uint32_t, kRound) + 127) << 23;
  return p * __builtin_bit_cast(float, exponent);
}

void add(float* __restrict h, const float* __restrict a, int64_t count) noexcept {
  for (int64_t i = 0; i < count; ++i) h[i] += a[i];
}

void add_sum(float* __restrict h, const float* __restrict a, const float* __restrict b,
             int64_t count) noexcept {
  for (int64_t i = 0; i < count; ++i) h[i] += a[i] + b[i];
}

void silu_mul(const float* __restrict gate, const float* __restrict up, float* __restrict out,
              int64_t count) noexcept {
  for (int64_t i = 0; i < count; ++i) out[i] = gate[i] / (1.0f + exp_clamped(-gate[i])) * up[i];
}

/// Sum over the lanes, pairwise.
inline float lane_sum(const float* lanes) noexcept {
  float sums[kLanes];
  for (int64_t i = 0; i < kLanes; ++i) sums[i] = lanes[i];
  for (int64_t width = kLanes / 2; width > 0; width /= 2)
    for (int64_t i = 0; i < width; ++i) sums[i] += sums[i + width];
  return sums[0];
}

void add_norm(float* __restrict h, const float* __restrict y, int64_t count, float eps) noexcept {
  float squares[kLanes] = {};
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes)
    for (int64_t lane = 0; lane < kLanes; ++lane) {
      const float sum = h[i + lane] + y[i + lane];
      h[i + lane] = sum;
      squares[lane] += sum * sum;
    }
  for (int64_t lane = 0; i + lane < count; ++lane) {
    const float sum = h[i + lane] + y[i + lane];
    h[i + lane] = sum;
    squares[lane] += sum * sum;
  }
  const float scale = 1.0f / __builtin_sqrtf(lane_sum(squares) / static_cast<float>(count) + eps);
  for (i = 0; i < count; ++i) h[i] *= scale;
}

void add_norm_columns(float* __restrict h, int64_t h_stride, const float* __restrict y,
                      int64_t rows, int64_t columns, float eps,
                      float* __restrict squares) noexcept {
  for (int64_t c = 0; c < columns; ++c) squares[c] = 0.0f;
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < columns; ++c) {
      const float sum = h[r * h_stride + c] + y[r * columns + c];
      h[r * h_stride + c] = sum;
      squares[c] += sum * sum;
    }
  const auto count = static_cast<float>(rows);
  for (int64_t c = 0; c < columns; ++c)
    squares[c] = 1.0f / __builtin_sqrtf(squares[c] / count + eps);
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < columns; ++c) h[r * h_stride + c] *= squares[c];
}

void softmax(float* __restrict values, int64_t count, float scale) noexcept {
  float largest = values[0] * scale;
  for (int64_t i = 0; i < count; ++i) {
    values[i] *= scale;
    largest = values[i] > largest ? values[i] : largest;
  }
  float sums[kLanes] = {};
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes)
    for (int64_t lane = 0; lane < kLanes; ++lane) {
      values[i + lane] = exp_clamped(values[i + lane] - largest);
      sums[lane] += values[i + lane];
    }
  for (int64_t lane = 0; i + lane < count; ++lane) {
    values[i + lane] = exp_clamped(values[i + lane] - largest);
    sums[lane] += values[i + lane];
  }
  const float inverse = 1.0f / lane_sum(sums);
  for (i = 0; i < count; ++i) values[i] *= inverse;
}

}  // namespace
}  // namespace driftless::engine

/// Defines the set of the including file.
#define DRIFTLESS_EPILOGUE_SET(variable, text)                            \
  namespace driftless::engine {                                           \
  extern constinit const EpilogueSet variable = {                         \
      text, add, add_sum, silu_mul, add_norm, add_norm_columns, softmax}; \
  }
