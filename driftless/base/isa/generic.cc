// SPDX-License-Identifier: Apache-2.0
// An architecture without kernels of its own.
#include <array>

#include "driftless/base/isa.h"

namespace driftless {
namespace {

constexpr std::array kIsas = {Isa{"scalar", "", []() noexcept { return true; }}};

}  // namespace

std::span<const Isa> isas() noexcept { return kIsas; }

}  // namespace driftless
