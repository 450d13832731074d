// SPDX-License-Identifier: Apache-2.0
// Whether the machine has time for a measurement: a short peak, repeated, must agree with itself on
// all threads, and nothing else may be waiting for the processors.
#pragma once

#include <string>

#include "driftless/base/thread_pool.h"

namespace driftless::bench {

struct Calm {
  bool is_calm = false;
  double waited_s = 0;
  double peak_spread = 0;    ///< of repeated peaks: (best - median) / best
  double foreign_share = 0;  ///< of the processors' time, used by other processes
};

/// Largest spread and foreign share of a calm machine.
inline constexpr double kCalmSpread = 0.03;
inline constexpr double kCalmForeign = 0.05;

/// Looks every half second until the machine is calm or `patience_s` is over.
Calm wait_for_calm(ThreadPool& pool, double patience_s);

/// "calm", or what disturbs.
std::string to_string(const Calm& calm);

}  // namespace driftless::bench
