// SPDX-License-Identifier: Apache-2.0
#include "driftless/quant/calibration.h"

#include <algorithm>
#include <cmath>

#include "driftless/base/error.h"
#include "driftless/base/text.h"
#include "driftless/quant/threshold.h"

namespace driftless::quant {
namespace {

void require_finite(std::string_view layer, int64_t call, ConstMat input) {
  const auto values = input.all();
  const auto bad =
      std::find_if(values.begin(), values.end(), [](float x) { return !std::isfinite(x); });
  DRIFTLESS_REQUIRE(bad == values.end(), ErrorCode::Numeric, "calibration: layer '", layer,
                    "', call ", call, ": value ", bad - values.begin(), " is not finite");
}

float fold_ends(const Fold& rule, std::vector<float> ends) {
  switch (rule.kind) {
    case Fold::Kind::Max:
      return *std::max_element(ends.begin(), ends.end());
    case Fold::Kind::Mean: {
      double sum = 0;
      for (const float end : ends) sum += static_cast<double>(end);
      return static_cast<float>(sum / static_cast<double>(ends.size()));
    }
    case Fold::Kind::Percentile:
      break;
  }
  std::sort(ends.begin(), ends.end());
  const double rank = std::ceil(rule.percentile / 100 * static_cast<double>(ends.size()));
  return ends[static_cast<size_t>(std::max(rank, 1.0)) - 1];
}

}  // namespace

Extent threshold(const QuantSpec& spec, const Histogram& seen) {
  const formats::Element& element = spec.format->element;
  const Extent full = seen.extent();
  if (spec.calibration.kind == Calibration::Kind::Percentile) {
    const float most = seen.percentile(spec.calibration.percentile);
    return {std::max(full.low, -most), std::min(full.high, most)};
  }
  if (spec.calibration.kind == Calibration::Kind::Absmax) return full;
  return least_error_extent(full, [&](Extent extent) {
    const Scale scale = scale_of(element, extent);
    double error = 0;
    seen.for_each_bin([&](float value, uint64_t count) {
      const float quantized = decode(element, scale, encode(element, scale, value));
      const double difference = static_cast<double>(value) - static_cast<double>(quantized);
      error += static_cast<double>(count) * difference * difference;
    });
    return error;
  });
}

Extent fold(const Fold& rule, std::span<const Extent> extents) {
  std::vector<float> lows;
  std::vector<float> highs;
  for (const Extent& extent : extents) {
    lows.push_back(-extent.low);
    highs.push_back(extent.high);
  }
  return {-fold_ends(rule, std::move(lows)), fold_ends(rule, std::move(highs))};
}

void Calibrator::observe(std::string_view layer, int64_t call, ConstMat input) {
  DRIFTLESS_REQUIRE(call >= 0, ErrorCode::InvalidArgument, "calibration: layer '", layer,
                    "': call index; got ", call, ", expected 0 or more");
  require_finite(layer, call, input);
  auto found = layers_.find(layer);
  if (found == layers_.end()) found = layers_.emplace(layer, std::vector<Histogram>{}).first;
  auto& calls = found->second;
  if (call >= static_cast<int64_t>(calls.size())) calls.resize(static_cast<size_t>(call) + 1);
  calls[static_cast<size_t>(call)].add(input.all());
}

std::vector<std::string_view> Calibrator::layers() const {
  std::vector<std::string_view> names;
  for (const auto& [name, calls] : layers_) names.push_back(name);
  return names;
}

std::span<const Histogram> Calibrator::calls(std::string_view layer) const {
  const auto found = layers_.find(layer);
  if (found == layers_.end()) {
    const auto names = layers();
    fail(ErrorCode::InvalidArgument, "calibration: layer '", layer, "' was never observed",
         names.empty() ? "; nothing was"
                       : "; did you mean '" + std::string(nearest_word(layer, names)) + "'?");
  }
  return found->second;
}

Scale Calibrator::scale(std::string_view layer, const QuantSpec& spec) const {
  DRIFTLESS_REQUIRE(spec.source == Source::Static && spec.granularity == Granularity::Tensor,
                    ErrorCode::InvalidArgument, "calibration: quantizer '", to_string(spec),
                    "'; expected a static one with tensor granularity");
  std::vector<Extent> extents;
  for (const Histogram& seen : calls(layer)) {
    if (seen.count() > 0) extents.push_back(threshold(spec, seen));
  }
  return scale_of(spec.format->element, fold(spec.fold, extents));
}

}  // namespace driftless::quant
