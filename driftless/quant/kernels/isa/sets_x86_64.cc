// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "driftless/quant/kernels/isa/sets.h"

namespace driftless::quant {
namespace {

// __builtin_cpu_supports asks CPUID and, for AVX state, the operating system.
constexpr std::array kCandidates = {
    KernelCandidate{&kAvx512Kernels,
                    []() noexcept {
                      return __builtin_cpu_supports("avx512f") != 0 &&
                             __builtin_cpu_supports("avx512bw") != 0 &&
                             __builtin_cpu_supports("avx512dq") != 0 &&
                             __builtin_cpu_supports("avx512vl") != 0;
                    }},
    KernelCandidate{&kAvx2Kernels, []() noexcept { return __builtin_cpu_supports("avx2") != 0; }},
    KernelCandidate{&kScalarKernels, []() noexcept { return true; }},
};

}  // namespace

std::span<const KernelCandidate> compiled_kernels() noexcept { return kCandidates; }

}  // namespace driftless::quant
