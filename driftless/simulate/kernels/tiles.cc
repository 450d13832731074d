// SPDX-License-Identifier: Apache-2.0
#include "driftless/simulate/kernels/tiles.h"

#include <span>
#include <vector>

#include "driftless/base/isa.h"

namespace driftless::simulate {

std::span<const KernelCandidate<TileKernels>> compiled_kernels() noexcept;

const TileKernels* tile_kernels() {
  static const auto sets = allowed(compiled_kernels());
  return sets.empty() ? nullptr : sets.front();
}

}  // namespace driftless::simulate
