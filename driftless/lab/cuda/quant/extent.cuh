// SPDX-License-Identifier: Apache-2.0
// The least and the largest value of a run, from which its scale follows.
#pragma once

#include "driftless/lab/cuda/quant/teams.cuh"

namespace driftless::lab::cuda {

/// Values that are not finite are noted when the scales are applied; until then they must not lead
/// the search for a scale astray.
__device__ inline quant::Extent finite(quant::Extent extent) {
  const bool is_finite = isfinite(extent.low) && isfinite(extent.high);
  return is_finite ? extent : quant::Extent{-1, 1};
}

/// Of a run, by a team of that many lanes, each of which gets it.
template <int kLanes, class T>
__device__ quant::Extent extent_of(const Run& run, int64_t lane, const T* values) {
  quant::Extent extent;
  for (int64_t i = lane; i < run.length; i += kLanes) {
    const float x = static_cast<float>(values[run.first + i * run.stride]);
    extent.low = fminf(extent.low, x);
    extent.high = fmaxf(extent.high, x);
  }
  return finite({team_least(extent.low, kLanes), -team_least(-extent.high, kLanes)});
}

}  // namespace driftless::lab::cuda
