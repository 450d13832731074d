// SPDX-License-Identifier: Apache-2.0
#include "driftless/integer/kernels/kernel_set.h"

#include <vector>

#include "driftless/base/isa.h"

namespace driftless::integer {

std::span<const KernelCandidate<KernelSet>> compiled_kernels() noexcept;

std::span<const KernelSet* const> available_kernels() noexcept {
  static const auto sets = runnable(compiled_kernels(), &kScalarKernels);
  return sets;
}

const KernelSet& kernels() {
  static const KernelSet& chosen = *allowed(compiled_kernels(), &kScalarKernels).front();
  return chosen;
}

}  // namespace driftless::integer
