// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "driftless/engine/kernels/isa/sets.h"

namespace driftless::engine {

std::span<const EpilogueSet* const> available_epilogues() {
  static constexpr std::array kSets = {&kPortableEpilogues};
  return kSets;
}

const TileKernels* tile_kernels() { return nullptr; }

}  // namespace driftless::engine
