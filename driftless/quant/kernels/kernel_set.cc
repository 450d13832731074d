// SPDX-License-Identifier: Apache-2.0
#include "driftless/quant/kernels/kernel_set.h"

#include <cstdlib>
#include <string>
#include <vector>

#include "driftless/base/error.h"
#include "driftless/base/text.h"
#include "driftless/quant/kernels/isa/sets.h"

namespace driftless::quant {
namespace {

std::vector<const KernelSet*> runnable() {
  std::vector<const KernelSet*> sets;
  for (const KernelCandidate& candidate : compiled_kernels()) {
    if (candidate.can_run()) sets.push_back(candidate.set);
  }
  return sets;
}

const KernelSet& choose() {
  const auto sets = available_kernels();
  const char* const wanted = std::getenv("DRIFTLESS_ISA");
  if (wanted == nullptr || *wanted == '\0') return *sets.front();
  std::vector<std::string_view> names;
  for (const KernelSet* set : sets) {
    if (set->name == wanted) return *set;
    names.push_back(set->name);
  }
  fail(ErrorCode::InvalidArgument, "DRIFTLESS_ISA: no such kernels here; got '", wanted,
       "', expected one of ", join(names, ", "));
}

}  // namespace

std::span<const KernelSet* const> available_kernels() noexcept {
  static const std::vector<const KernelSet*> sets = runnable();
  return sets;
}

const KernelSet& kernels() {
  static const KernelSet& chosen = choose();
  return chosen;
}

}  // namespace driftless::quant
