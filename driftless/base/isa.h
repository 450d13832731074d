// SPDX-License-Identifier: Apache-2.0
// Instruction sets: which of them this processor can run, and which of them kernels may use. The
// environment variable DRIFTLESS_ISA limits the kernels of every family to the instruction set that
// it names and those that this one builds on.
#pragma once

#include <span>
#include <string_view>
#include <vector>

namespace driftless {

struct Isa {
  std::string_view name;
  std::string_view builds_on;  ///< the name of another one; empty for "scalar"
  bool (*has_it)() noexcept;   ///< whether processor and operating system have what it adds
};

/// Those of the architecture that this program was built for, best first; "scalar" is the last.
std::span<const Isa> isas() noexcept;

/// Whether `isa` is `other` or something that `other` builds on.
bool is_part_of(std::string_view isa, std::string_view other) noexcept;

/// Whether this processor has the instruction set and all that it builds on.
bool can_run(std::string_view isa) noexcept;

/// What DRIFTLESS_ISA says, known here or not; empty where it is not set.
std::string_view wanted_isa() noexcept;

/// The instruction set that DRIFTLESS_ISA names, or none. Throws InvalidArgument when that is
/// unknown or this processor cannot run it.
std::string_view isa_limit();

/// Whether that limit leaves room for `isa`. Throws as isa_limit().
bool is_allowed(std::string_view isa);

/// A kernel set that was compiled and the instruction set that it needs. cmake/Kernels.cmake makes
/// the list of each family from its files.
template <class Set>
struct KernelCandidate {
  const Set* set;
  std::string_view isa;
};

/// The sets this processor can run, best first. `scalar` is the last, where a family has one.
template <class Set>
std::vector<const Set*> runnable(std::span<const KernelCandidate<Set>> compiled,
                                 const Set* scalar = nullptr) {
  std::vector<const Set*> sets;
  for (const auto& candidate : compiled)
    if (can_run(candidate.isa)) sets.push_back(candidate.set);
  if (scalar != nullptr) sets.push_back(scalar);
  return sets;
}

/// Those of them that isa_limit() allows. Throws as isa_limit().
template <class Set>
std::vector<const Set*> allowed(std::span<const KernelCandidate<Set>> compiled,
                                const Set* scalar = nullptr) {
  std::vector<KernelCandidate<Set>> within;
  for (const auto& candidate : compiled)
    if (is_allowed(candidate.isa)) within.push_back(candidate);
  return runnable<Set>(within, scalar);
}

}  // namespace driftless
