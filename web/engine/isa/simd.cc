// SPDX-License-Identifier: Apache-2.0
// The module with vectors.
#include <array>

#include "driftless/base/isa.h"

namespace driftless {
namespace {

constexpr std::array kIsas = {
    Isa{"wasm_simd", "scalar", []() noexcept { return true; }},
    Isa{"scalar", "", []() noexcept { return true; }},
};

}  // namespace

std::span<const Isa> isas() noexcept { return kIsas; }

}  // namespace driftless
