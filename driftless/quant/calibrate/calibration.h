// SPDX-License-Identifier: Apache-2.0
// Static scales for a model that calls one layer hundreds of times. What a layer sees is kept per
// call index, because ranges change with recursion depth; the per-call thresholds are then folded
// into one by a named rule.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "driftless/quant/calibrate/histogram.h"
#include "driftless/quant/mat_view.h"
#include "driftless/quant/scale/scale.h"
#include "driftless/quant/spec.h"

namespace driftless::quant {

/// The extent that spec.calibration gives for what a histogram saw. The mse search quantizes the
/// middle of each bin. Requires values.
Extent threshold(const QuantSpec& spec, const Histogram& seen);

/// One extent for many calls: the largest, the mean or a percentile (order statistic number
/// ceil(p/100 * n)) of their lower and upper ends. Requires extents.
Extent fold(const Fold& rule, std::span<const Extent> extents);

class Calibrator {
 public:
  /// What is kept of each call: all that a spec may ask for, or extents, which are enough for
  /// calib=absmax and take a fraction of the time.
  enum class Keep : uint8_t { Histograms, Extents };
  explicit Calibrator(Keep keep = Keep::Histograms) : keep_(keep) {}

  /// Adds the input of call number `call` of a layer. Throws Numeric for NaN and infinity,
  /// InvalidArgument for a negative call.
  void observe(std::string_view layer, int64_t call, ConstMat input);

  /// Takes in all that another one, which keeps the same, observed.
  void merge(const Calibrator& other);

  [[nodiscard]] std::vector<std::string_view> layers() const;
  /// What each call saw, by call index; calls never observed are empty. Throws InvalidArgument for
  /// a layer never observed, naming the nearest.
  [[nodiscard]] std::span<const Histogram> calls(std::string_view layer) const;

  /// The static scale of a layer's input under a spec with tensor granularity: a threshold per call
  /// by spec.calibration, folded by spec.fold. Throws as the next one.
  [[nodiscard]] Scale scale(std::string_view layer, const QuantSpec& spec) const;
  /// The same from some of its calls. Throws InvalidArgument when none of them was observed, or
  /// when a percentile of a call is its maximum because too few values were seen.
  [[nodiscard]] Scale scale(std::string_view layer, const QuantSpec& spec,
                            std::span<const int64_t> chosen) const;

 private:
  Keep keep_;
  std::map<std::string, std::vector<Histogram>, std::less<>> layers_;
};

}  // namespace driftless::quant
