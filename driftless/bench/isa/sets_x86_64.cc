// SPDX-License-Identifier: Apache-2.0
#include <array>

#include <cpuid.h>

#include "driftless/bench/isa/sets.h"

namespace driftless::bench {
namespace {

// __builtin_cpu_supports asks CPUID and, for AVX state, the operating system.
bool has_avx512() noexcept { return __builtin_cpu_supports("avx512f") != 0; }
bool has_fma() noexcept {
  return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
}

/// CPUID leaf 7, subleaf 1, EAX bit 5; some compilers' builtin does not know the name.
bool has_avx512_bf16() noexcept {
  unsigned eax = 0;
  unsigned ebx = 0;
  unsigned ecx = 0;
  unsigned edx = 0;
  return has_avx512() && __get_cpuid_count(7, 1, &eax, &ebx, &ecx, &edx) != 0 &&
         (eax & (1u << 5)) != 0;
}

constexpr std::array kCandidates = {
    PeakCandidate{&kFmaAvx512Peak, has_avx512},
    PeakCandidate{&kFmaAvx2Peak, has_fma},
    PeakCandidate{&kBf16Avx512Peak, has_avx512_bf16},
    PeakCandidate{&kMaddAvx2Peak, has_fma},
};

}  // namespace

std::span<const PeakCandidate> compiled_peaks() noexcept { return kCandidates; }

}  // namespace driftless::bench
