// SPDX-License-Identifier: Apache-2.0
#include <array>

#include <cpuid.h>

#include "driftless/native/kernels/isa/sets.h"

namespace driftless::native {
namespace {

// __builtin_cpu_supports asks CPUID and, for AVX state, the operating system.
bool has_avx512_vnni() noexcept {
  return __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512bw") != 0 &&
         __builtin_cpu_supports("avx512dq") != 0 && __builtin_cpu_supports("avx512vl") != 0 &&
         __builtin_cpu_supports("avx512vnni") != 0;
}

bool has_avx2() noexcept { return __builtin_cpu_supports("avx2") != 0; }

/// CPUID leaf 7, subleaf 1, EAX bit 4; some compilers' builtin does not know the name.
bool has_avx_vnni() noexcept {
  unsigned eax = 0;
  unsigned ebx = 0;
  unsigned ecx = 0;
  unsigned edx = 0;
  return has_avx2() && __get_cpuid_count(7, 1, &eax, &ebx, &ecx, &edx) != 0 &&
         (eax & (1u << 4)) != 0;
}

constexpr std::array kCandidates = {
    KernelCandidate{&kAvx512VnniKernels, has_avx512_vnni},
    KernelCandidate{&kAvxVnniKernels, has_avx_vnni},
    KernelCandidate{&kAvx2Kernels, has_avx2},
    KernelCandidate{&kScalarKernels, []() noexcept { return true; }},
};

}  // namespace

std::span<const KernelCandidate> compiled_kernels() noexcept { return kCandidates; }

}  // namespace driftless::native
