// SPDX-License-Identifier: Apache-2.0
#include "driftless/engine/kernels/isa/sets.h"

namespace driftless::engine {

const TileKernels* tile_kernels() { return nullptr; }

}  // namespace driftless::engine
