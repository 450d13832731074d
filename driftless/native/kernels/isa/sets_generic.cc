// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "driftless/native/kernels/isa/sets.h"

namespace driftless::native {
namespace {

constexpr std::array kCandidates = {
    KernelCandidate{&kScalarKernels, []() noexcept { return true; }},
};

}  // namespace

std::span<const KernelCandidate> compiled_kernels() noexcept { return kCandidates; }

}  // namespace driftless::native
