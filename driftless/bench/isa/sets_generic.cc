// SPDX-License-Identifier: Apache-2.0
#include "driftless/bench/isa/sets.h"

namespace driftless::bench {

std::span<const PeakCandidate> compiled_peaks() noexcept { return {}; }

}  // namespace driftless::bench
