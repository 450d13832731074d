// SPDX-License-Identifier: Apache-2.0
// Which extent of some values a float scale should cover: all of it (absmax), all but the largest
// magnitudes (percentile), or the share of it that costs the least squared error (mse).
#pragma once

#include <span>

#include "driftless/quant/kernels/kernel_set.h"
#include "driftless/quant/scale/scale.h"
#include "driftless/quant/spec.h"

namespace driftless::quant {

/// The mse search tries the shares i / kShareSteps of the full extent, i from kFirstShare up.
inline constexpr int kShareSteps = 50;
inline constexpr int kFirstShare = 10;

/// The share of `full` for which error_of(extent) is least; the widest one on ties.
template <class ErrorOf>
Extent least_error_extent(Extent full, ErrorOf error_of) {
  Extent best = full;
  double best_error = error_of(full);
  for (int share = kShareSteps - 1; share >= kFirstShare; --share) {
    const float factor = static_cast<float>(share) / kShareSteps;
    const Extent extent{full.low * factor, full.high * factor};
    const double error = error_of(extent);
    if (error < best_error) {
      best = extent;
      best_error = error;
    }
  }
  return best;
}

/// The extent by spec.calibration; `absmax` is the largest magnitude of the values. A percentile is
/// the order statistic number ceil(p/100 * n) of the magnitudes, without interpolation. Sums of
/// squares run in index order in double, so that the choice is the same on every kernel set.
Extent threshold(const QuantSpec& spec, std::span<const float> values, float absmax,
                 const KernelSet& kernels);

}  // namespace driftless::quant
