// SPDX-License-Identifier: Apache-2.0
#include <array>

#include <sys/auxv.h>

#include "driftless/base/isa.h"

namespace driftless {
namespace {

bool has_dot_product() noexcept {
  constexpr unsigned long kHwcapAsimdDp = 1ul << 20;
  return (getauxval(AT_HWCAP) & kHwcapAsimdDp) != 0;
}

constexpr std::array kIsas = {
    Isa{"neon_dot", "neon", has_dot_product},
    Isa{"neon", "scalar", []() noexcept { return true; }},
    Isa{"scalar", "", []() noexcept { return true; }},
};

}  // namespace

std::span<const Isa> isas() noexcept { return kIsas; }

}  // namespace driftless
