// SPDX-License-Identifier: Apache-2.0
// The kernel sets that were compiled, whether or not this processor can run them.
#pragma once

#include <span>

#include "driftless/engine/kernels/epilogues.h"
#include "driftless/engine/kernels/tiles.h"

namespace driftless::engine {

extern const EpilogueSet kAvx512Epilogues;
extern const EpilogueSet kAvx2Epilogues;
extern const EpilogueSet kPortableEpilogues;

extern const TileKernels kAmxTiles;

}  // namespace driftless::engine
