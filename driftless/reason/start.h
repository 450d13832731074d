// SPDX-License-Identifier: Apache-2.0
// What every backend does alike when a board enters a slot.
#pragma once

#include "driftless/base/rng.h"
#include "driftless/reason/reasoner.h"

namespace driftless::reason {

/// Throws InvalidArgument when the number of tokens, a token or the puzzle row does not fit.
void require_fits(const model::ModelConfig& config, const Board& board);

/// One value of EqR's initial states: normal, cut at two standard deviations, so that what is left
/// has `deviation`. A slot draws z_H, then z_L, then the noise of each network call, row by row,
/// from one generator seeded by the board.
float truncated_normal(Rng& rng, double deviation);

}  // namespace driftless::reason
