// SPDX-License-Identifier: Apache-2.0
// What every backend does alike when a board enters a slot and when slots make a step.
#pragma once

#include "driftless/base/rng.h"
#include "driftless/reason/reasoner.h"

namespace driftless::reason {

/// Throws InvalidArgument when the number of tokens, a token or the puzzle row does not fit.
void require_fits(const model::ModelConfig& config, const Board& board);

/// Throws InvalidArgument when a slot is named twice. Allocates nothing.
void require_distinct(std::span<const int64_t> slots);

/// EqR's initial states are normal, cut at kTruncation standard deviations; kTruncatedScale is the
/// deviation before the cut relative to the one after it.
inline constexpr double kTruncation = 2;
inline constexpr double kTruncatedScale = 1.1368472;

/// One value of an initial state with `deviation` after the cut. A slot of EqR draws z_H, then z_L,
/// then the noise of each network call, row by row, from one generator seeded by the board; one of
/// stochastic TRM the noise of each update of z_H.
float truncated_normal(Rng& rng, double deviation);

}  // namespace driftless::reason
