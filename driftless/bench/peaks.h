// SPDX-License-Identifier: Apache-2.0
// The limits of the machine's multiply-add instructions, on registers alone: what no product can
// outrun.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "driftless/base/thread_pool.h"
#include "driftless/bench/race.h"

namespace driftless::bench {

/// An instruction that can be repeated on registers. `run` returns the multiply-adds made.
struct PeakKernel {
  std::string_view name;
  bool is_int8_dot;  ///< the limit of native products on the set of that name
  int64_t (*run)(int64_t rounds) noexcept;
};

/// The peaks of one instruction set.
struct PeakSet {
  std::span<const PeakKernel> peaks;
};

/// What this build has, this processor can run and DRIFTLESS_ISA allows (base/isa.h), best first:
/// float and bf16, then the inner steps of the native kernel sets. At least the scalar set's.
std::vector<PeakKernel> peak_kernels();

/// The limit of the best native kernel set.
PeakKernel int8_peak();

/// A contender that runs the kernel for about a tenth of a millisecond on every thread of the
/// pool at once, each on a processor of its own where there are enough. The pool must outlive it.
Contender peak_contender(const PeakKernel& kernel, ThreadPool& pool);

}  // namespace driftless::bench
