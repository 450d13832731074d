// SPDX-License-Identifier: Apache-2.0
#include "driftless/quant/calibrate/threshold.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace driftless::quant {
namespace {

float percentile_magnitude(std::span<const float> values, double percentile) {
  std::vector<float> magnitudes(values.size());
  std::transform(values.begin(), values.end(), magnitudes.begin(),
                 [](float x) { return std::abs(x); });
  const double rank = std::ceil(percentile / 100 * static_cast<double>(values.size()));
  const auto at = magnitudes.begin() + static_cast<int64_t>(std::max(rank, 1.0)) - 1;
  std::nth_element(magnitudes.begin(), at, magnitudes.end());
  return *at;
}

}  // namespace

Extent threshold(const QuantSpec& spec, std::span<const float> values, float absmax,
                 const KernelSet& kernels) {
  const formats::Element& element = spec.format->element;
  const auto n = static_cast<int64_t>(values.size());
  Extent full{-absmax, absmax};
  if (is_asymmetric(element)) full = kernels.extent(values.data(), n);
  if (spec.calibration.kind == Calibration::Kind::Percentile) {
    const float most = percentile_magnitude(values, spec.calibration.percentile);
    return {std::max(full.low, -most), std::min(full.high, most)};
  }
  if (spec.calibration.kind == Calibration::Kind::Mse) {
    std::vector<float> quantized(values.size());
    return least_error_extent(full, [&](Extent extent) {
      kernels.fake_scaled(element, scale_of(element, extent), values.data(), n, quantized.data());
      double error = 0;
      for (size_t i = 0; i < values.size(); ++i) {
        const double difference =
            static_cast<double>(values[i]) - static_cast<double>(quantized[i]);
        error += difference * difference;
      }
      return error;
    });
  }
  return full;
}

}  // namespace driftless::quant
