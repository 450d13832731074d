// SPDX-License-Identifier: Apache-2.0
#include "driftless/study/measure/layer_errors.h"

#include <cmath>

#include "driftless/base/error.h"

namespace driftless::study {
namespace {

// Series by call: sums of squared errors, of squared inputs, of errors, and the number of values.
constexpr std::string_view kError = "layer.error.";
constexpr std::string_view kInput = "layer.input.";
constexpr std::string_view kMean = "layer.mean.";
constexpr std::string_view kCount = "layer.count.";

std::string name_of(std::string_view kind, std::string_view layer) {
  return std::string(kind) + std::string(layer);
}

}  // namespace

void LayerErrors::observe(const reason::Observation& seen) {
  const reason::StridedView& values = seen.values;
  if (seen.point == reason::Point::LinearInput) {
    Input& input = inputs_[seen.slot];
    input.rows = values.rows;
    input.columns = values.columns;
    input.values.clear();
    for (int64_t row = 0; row < values.rows; ++row)
      for (int64_t column = 0; column < values.columns; ++column)
        input.values.push_back(values.at(row, column));
    return;
  }
  const Input& input = inputs_[seen.slot];
  DRIFTLESS_ASSERT(values.rows == input.rows && values.columns == input.columns);
  double errors = 0, inputs = 0, sum = 0;
  size_t index = 0;
  for (int64_t row = 0; row < values.rows; ++row)
    for (int64_t column = 0; column < values.columns; ++column) {
      const double x = input.values[index++];
      const double error = static_cast<double>(values.at(row, column)) - x;
      errors += error * error;
      inputs += x * x;
      sum += error;
    }
  tally_.add(name_of(kError, seen.layer), seen.call, errors);
  tally_.add(name_of(kInput, seen.layer), seen.call, inputs);
  tally_.add(name_of(kMean, seen.layer), seen.call, sum);
  tally_.add(name_of(kCount, seen.layer), seen.call,
             static_cast<double>(values.rows * values.columns));
}

std::vector<LayerError> layer_errors(const Tally& tally) {
  std::vector<LayerError> result;
  for (const std::string_view name : tally.names()) {
    if (!name.starts_with(kError)) continue;
    const std::string_view layer = name.substr(kError.size());
    const auto errors = tally.series(name);
    const auto inputs = tally.series(name_of(kInput, layer));
    const auto means = tally.series(name_of(kMean, layer));
    const auto counts = tally.series(name_of(kCount, layer));
    for (size_t call = 0; call < errors.size(); ++call) {
      if (errors[call].n == 0 || inputs[call].sum == 0) continue;
      const double rms = std::sqrt(inputs[call].sum / counts[call].sum);
      result.push_back({.layer = std::string(layer),
                        .call = static_cast<int64_t>(call),
                        .relative = std::sqrt(errors[call].sum / inputs[call].sum),
                        .signed_mean = means[call].sum / counts[call].sum / rms});
    }
  }
  return result;
}

}  // namespace driftless::study
