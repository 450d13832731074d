// SPDX-License-Identifier: Apache-2.0
// An engine that does not know an instruction refuses the whole module, so that JavaScript knows
// before what runs: it takes the functions that cannot out of the module and limits the kernels by
// DRIFTLESS_ISA (web/src/variants.js).
#include <array>

#include "driftless/base/isa.h"

namespace driftless {
namespace {

constexpr std::array kIsas = {
    Isa{"wasm_relaxed", "wasm_simd", []() noexcept { return true; }},
    Isa{"wasm_simd", "scalar", []() noexcept { return true; }},
    Isa{"scalar", "", []() noexcept { return true; }},
};

}  // namespace

std::span<const Isa> isas() noexcept { return kIsas; }

}  // namespace driftless
