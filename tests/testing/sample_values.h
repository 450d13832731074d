// SPDX-License-Identifier: Apache-2.0
// Values that find rounding mistakes: Gaussians, ties, zeros of both signs, subnormals, outliers
// and the ends of the float range, mixed by a seed.
#pragma once

#include <cfloat>
#include <cmath>
#include <cstdint>
#include <vector>

#include "driftless/base/rng.h"

namespace driftless::testing {

inline float awkward_value(Rng& rng) {
  switch (rng.below(10)) {
    case 0:
      return rng.below(2) == 0 ? 0.0f : -0.0f;
    case 1:  // A tie or a code of some format.
      return static_cast<float>(static_cast<double>(rng.below(129)) / 16 - 4);
    case 2:
      return static_cast<float>(rng.gaussian() * 100);
    case 3:
      return static_cast<float>(rng.gaussian() * 1e-3);
    default:
      return static_cast<float>(rng.gaussian());
  }
}

/// Mostly awkward_value; whole stretches are zero, tiny, subnormal or near FLT_MAX.
inline std::vector<float> awkward_values(int64_t n, uint64_t seed) {
  Rng rng(seed);
  std::vector<float> values(static_cast<size_t>(n));
  double scale = 1;
  for (size_t i = 0; i < values.size(); ++i) {
    if (i % 64 == 0) {
      constexpr double kScales[] = {1, 1, 1, 1, 0, 0x1p-120, 0x1p-135, 0x1p-146, 0x1p119, 0x1p30};
      scale = kScales[rng.below(10)];
    }
    const double value = scale * static_cast<double>(awkward_value(rng));
    values[i] = static_cast<float>(std::fmin(std::fmax(value, -FLT_MAX), FLT_MAX));
  }
  return values;
}

inline std::vector<float> gaussian_values(int64_t n, uint64_t seed) {
  Rng rng(seed);
  std::vector<float> values(static_cast<size_t>(n));
  for (float& x : values) x = static_cast<float>(rng.gaussian());
  return values;
}

}  // namespace driftless::testing
