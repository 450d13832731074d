// SPDX-License-Identifier: Apache-2.0
// The one symbol that each instruction set's file exports. Which of them a build has is decided by
// CMake, which compiles sets_<architecture>.cc beside them.
#pragma once

#include <span>

#include "driftless/native/kernels/kernel_set.h"

namespace driftless::native {

extern const KernelSet kAvx512VnniKernels;
extern const KernelSet kAvxVnniKernels;
extern const KernelSet kAvx2Kernels;
extern const KernelSet kNeonDotKernels;
extern const KernelSet kNeonKernels;

/// A set and whether this processor, under this operating system, can run it.
struct KernelCandidate {
  const KernelSet* set;
  bool (*can_run)() noexcept;
};

/// The sets compiled into this build, best first; the scalar one last.
std::span<const KernelCandidate> compiled_kernels() noexcept;

}  // namespace driftless::native
