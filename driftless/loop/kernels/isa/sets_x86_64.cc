// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "driftless/loop/kernels/isa/sets.h"

namespace driftless::loop {

// __builtin_cpu_supports asks CPUID and, for AVX state, the operating system.
std::span<const EpilogueSet* const> available_epilogues() {
  static constexpr std::array kSets = {&kAvx512Epilogues, &kAvx2Epilogues, &kPortableEpilogues};
  const bool has_avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                          __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  const bool has_avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  const size_t first = has_avx512 ? 0 : has_avx2 ? 1 : 2;
  return std::span(kSets).subspan(first);
}

}  // namespace driftless::loop
