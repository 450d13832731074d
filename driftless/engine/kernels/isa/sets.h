// SPDX-License-Identifier: Apache-2.0
// The kernels that were compiled, whether or not this processor can run them.
#pragma once

#include "driftless/engine/kernels/tiles.h"

namespace driftless::engine {

extern const TileKernels kAmxTiles;

}  // namespace driftless::engine
