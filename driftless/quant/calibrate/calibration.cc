// SPDX-License-Identifier: Apache-2.0
#include "driftless/quant/calibrate/calibration.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "driftless/base/error.h"
#include "driftless/base/text/text.h"
#include "driftless/formats/float_bits.h"
#include "driftless/quant/calibrate/threshold.h"
#include "driftless/quant/kernels/kernel_set.h"

namespace driftless::quant {
namespace {

void require_finite(std::string_view layer, int64_t call, ConstMat input) {
  const auto values = input.all();
  const auto bad =
      std::find_if(values.begin(), values.end(), [](float x) { return !std::isfinite(x); });
  DRIFTLESS_REQUIRE(bad == values.end(), ErrorCode::Numeric, "calibration: layer '", layer,
                    "', call ", call, ": value ", bad - values.begin(), " is not finite");
}

/// A percentile that leaves less than one value above it is the maximum by another name.
void require_enough(std::string_view layer, const QuantSpec& spec, const Histogram& seen) {
  if (spec.calibration.kind != Calibration::Kind::Percentile) return;
  const double percentile = spec.calibration.percentile;
  const double needed = percentile == 100 ? 1 : std::ceil(100 / (100 - percentile));
  DRIFTLESS_REQUIRE(static_cast<double>(seen.count()) >= needed, ErrorCode::InvalidArgument,
                    "calibration: layer '", layer, "': '", to_string(spec), "' saw ", seen.count(),
                    " values in a call, expected at least ", needed,
                    "; take more calibration boards or a lower percentile");
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
  const uint32_t absmax = kernels().absmax_bits(input.data, input.size());
  if (absmax >= formats::kFloatInfinityBits) require_finite(layer, call, input);
  auto found = layers_.find(layer);
  if (found == layers_.end()) found = layers_.emplace(layer, std::vector<Histogram>{}).first;
  auto& calls = found->second;
  if (call >= static_cast<int64_t>(calls.size())) calls.resize(static_cast<size_t>(call) + 1);
  Histogram& seen = calls[static_cast<size_t>(call)];
  if (keep_ == Keep::Histograms)
    seen.add(input.all());
  else
    seen.widen(kernels().extent(input.data, input.size()), static_cast<uint64_t>(input.size()));
}

void Calibrator::merge(const Calibrator& other) {
  DRIFTLESS_ASSERT(keep_ == other.keep_);
  for (const auto& [name, theirs] : other.layers_) {
    std::vector<Histogram>& mine = layers_[name];
    if (mine.size() < theirs.size()) mine.resize(theirs.size());
    for (size_t call = 0; call < theirs.size(); ++call) mine[call].merge(theirs[call]);
  }
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
         names.empty() ? "; nothing was" : did_you_mean(layer, names));
  }
  return found->second;
}

Scale Calibrator::scale(std::string_view layer, const QuantSpec& spec) const {
  std::vector<int64_t> all(calls(layer).size());
  std::iota(all.begin(), all.end(), int64_t{0});
  return scale(layer, spec, all);
}

Scale Calibrator::scale(std::string_view layer, const QuantSpec& spec,
                        std::span<const int64_t> chosen) const {
  DRIFTLESS_REQUIRE(spec.source == Source::Static && spec.granularity == Granularity::Tensor,
                    ErrorCode::InvalidArgument, "calibration: quantizer '", to_string(spec),
                    "'; expected a static one with tensor granularity");
  DRIFTLESS_REQUIRE(keep_ == Keep::Histograms || spec.calibration.kind == Calibration::Kind::Absmax,
                    ErrorCode::InvalidArgument, "calibration: '", to_string(spec),
                    "' needs histograms; got extents only");
  const auto seen = calls(layer);
  std::vector<Extent> extents;
  extents.reserve(chosen.size());
  for (const int64_t call : chosen) {
    if (call >= std::ssize(seen) || seen[static_cast<size_t>(call)].count() == 0) continue;
    require_enough(layer, spec, seen[static_cast<size_t>(call)]);
    extents.push_back(threshold(spec, seen[static_cast<size_t>(call)]));
  }
  DRIFTLESS_REQUIRE(!extents.empty(), ErrorCode::InvalidArgument, "calibration: layer '", layer,
                    "': none of these calls was observed");
  return scale_of(spec.format->element, fold(spec.fold, extents));
}

}  // namespace driftless::quant
