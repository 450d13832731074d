// SPDX-License-Identifier: Apache-2.0
#include "driftless/loop/kernels/epilogues.h"

#include <vector>

#include "driftless/base/isa.h"

namespace driftless::loop {

namespace portable {
extern const EpilogueSet kKernels;
}  // namespace portable

std::span<const KernelCandidate<EpilogueSet>> compiled_kernels() noexcept;

std::span<const EpilogueSet* const> available_epilogues() {
  static const auto sets = runnable(compiled_kernels(), &portable::kKernels);
  return sets;
}

const EpilogueSet& epilogues() {
  static const EpilogueSet& chosen = *allowed(compiled_kernels(), &portable::kKernels).front();
  return chosen;
}

}  // namespace driftless::loop
