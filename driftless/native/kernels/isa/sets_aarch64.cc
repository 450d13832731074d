// SPDX-License-Identifier: Apache-2.0
#include <array>

#include <sys/auxv.h>

#include "driftless/native/kernels/isa/sets.h"

namespace driftless::native {
namespace {

bool has_dot_product() noexcept {
  constexpr unsigned long kHwcapAsimdDp = 1ul << 20;
  return (getauxval(AT_HWCAP) & kHwcapAsimdDp) != 0;
}

constexpr std::array kCandidates = {
    KernelCandidate{&kNeonDotKernels, has_dot_product},
    KernelCandidate{&kNeonKernels, []() noexcept { return true; }},
    KernelCandidate{&kScalarKernels, []() noexcept { return true; }},
};

}  // namespace

std::span<const KernelCandidate> compiled_kernels() noexcept { return kCandidates; }

}  // namespace driftless::native
