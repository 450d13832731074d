// SPDX-License-Identifier: Apache-2.0
// The peaks that each instruction set's file exports. CMake decides which of them a build has, by
// compiling sets_<architecture>.cc beside them.
#pragma once

#include <span>

#include "driftless/bench/peaks.h"

namespace driftless::bench {

extern const PeakKernel kFmaAvx512Peak;
extern const PeakKernel kBf16Avx512Peak;
extern const PeakKernel kFmaAvx2Peak;
extern const PeakKernel kMaddAvx2Peak;

struct PeakCandidate {
  const PeakKernel* kernel;
  bool (*can_run)() noexcept;
};

std::span<const PeakCandidate> compiled_peaks() noexcept;

}  // namespace driftless::bench
