// SPDX-License-Identifier: Apache-2.0
// An engine that does not know an instruction refuses the whole module, so that there are several
// of them (web/CMakeLists.txt), each with a table of its own in the place of this one. Here is that
// of a module without vectors.
#include <array>

#include "driftless/base/isa.h"

namespace driftless {
namespace {

constexpr std::array kIsas = {Isa{"scalar", "", []() noexcept { return true; }}};

}  // namespace

std::span<const Isa> isas() noexcept { return kIsas; }

}  // namespace driftless
