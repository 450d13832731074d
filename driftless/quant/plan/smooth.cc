// SPDX-License-Identifier: Apache-2.0
#include "driftless/quant/plan/smooth.h"

#include <algorithm>
#include <cmath>

#include "driftless/base/error.h"

namespace driftless::quant {
namespace {

constexpr float kLeastAbsmax = 1e-5f;

void require_columns(size_t got, int64_t cols) {
  DRIFTLESS_REQUIRE(static_cast<int64_t>(got) == cols, ErrorCode::InvalidArgument,
                    "smoothing: entries per column; got ", got, ", expected ", cols);
}

}  // namespace

void update_column_absmax(ConstMat matrix, std::span<float> absmax) {
  require_columns(absmax.size(), matrix.cols);
  for (int64_t row = 0; row < matrix.rows; ++row) {
    const auto values = matrix.row(row);
    for (size_t j = 0; j < values.size(); ++j) absmax[j] = std::max(absmax[j], std::abs(values[j]));
  }
}

std::vector<float> smoothing_factors(std::span<const float> activation_absmax,
                                     std::span<const float> weight_absmax, double strength) {
  require_columns(weight_absmax.size(), static_cast<int64_t>(activation_absmax.size()));
  DRIFTLESS_REQUIRE(strength >= 0 && strength <= 1, ErrorCode::InvalidArgument,
                    "smoothing: strength; got ", strength, ", expected 0 to 1");
  std::vector<float> factors(activation_absmax.size());
  for (size_t j = 0; j < factors.size(); ++j) {
    const double activation = std::max(activation_absmax[j], kLeastAbsmax);
    const double weight = std::max(weight_absmax[j], kLeastAbsmax);
    factors[j] =
        static_cast<float>(std::pow(activation, strength) / std::pow(weight, 1 - strength));
  }
  return factors;
}

void smooth_activations(std::span<const float> factors, Mat activations) {
  require_columns(factors.size(), activations.cols);
  for (int64_t row = 0; row < activations.rows; ++row) {
    const auto values = activations.row(row);
    for (size_t j = 0; j < values.size(); ++j) values[j] /= factors[j];
  }
}

void smooth_weights(std::span<const float> factors, Mat weights) {
  require_columns(factors.size(), weights.cols);
  for (int64_t row = 0; row < weights.rows; ++row) {
    const auto values = weights.row(row);
    for (size_t j = 0; j < values.size(); ++j) values[j] *= factors[j];
  }
}

}  // namespace driftless::quant
