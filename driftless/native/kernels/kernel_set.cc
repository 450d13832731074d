// SPDX-License-Identifier: Apache-2.0
#include "driftless/native/kernels/kernel_set.h"

#include <cstdlib>
#include <vector>

#include "driftless/base/error.h"
#include "driftless/base/text.h"
#include "driftless/native/kernels/isa/sets.h"

namespace driftless::native {
namespace {

std::vector<const KernelSet*> runnable() {
  std::vector<const KernelSet*> sets;
  for (const KernelCandidate& candidate : compiled_kernels()) {
    if (candidate.can_run()) sets.push_back(candidate.set);
  }
  return sets;
}

std::string_view variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string_view() : value;
}

/// The set that suits DRIFTLESS_ISA, whose names are those of other kernels: the one of that name,
/// or the first that extends it ("avx512"); the best one where neither exists.
const KernelSet& closest(std::string_view isa) {
  const auto sets = available_kernels();
  for (const KernelSet* set : sets) {
    if (set->name == isa) return *set;
  }
  for (const KernelSet* set : sets) {
    if (set->name.starts_with(isa)) return *set;
  }
  return *sets.front();
}

const KernelSet& choose() {
  const std::string_view wanted = variable("DRIFTLESS_NATIVE_ISA");
  return wanted.empty() ? closest(variable("DRIFTLESS_ISA")) : kernels_by_name(wanted);
}

}  // namespace

std::span<const KernelSet* const> available_kernels() noexcept {
  static const std::vector<const KernelSet*> sets = runnable();
  return sets;
}

const KernelSet& kernels_by_name(std::string_view name) {
  std::vector<std::string_view> names;
  for (const KernelSet* set : available_kernels()) {
    if (set->name == name) return *set;
    names.push_back(set->name);
  }
  fail(ErrorCode::InvalidArgument, "DRIFTLESS_NATIVE_ISA: no such kernels here; got '", name,
       "', expected one of ", join(names, ", "));
}

const KernelSet& kernels() {
  static const KernelSet& chosen = choose();
  return chosen;
}

}  // namespace driftless::native
