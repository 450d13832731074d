// SPDX-License-Identifier: Apache-2.0
// The stages around the blocks: what enters a network call, what leaves it, and the heads.
#pragma once

#include <memory>

#include "driftless/engine/block.h"
#include "driftless/model/schedule.h"

namespace driftless::engine {

/// h <- h + injection; EqR keeps the state as it was before.
std::unique_ptr<Stage> make_inject(const Build& build, model::Injection injection);

/// EqR: h <- (1 - lambda) * previous + lambda * h + noise_scale * N(0, I), drawn row by row from
/// the slot's generator.
std::unique_ptr<Stage> make_damp(const Build& build);

/// Logits of the cells and the two halt logits, from z_H.
std::unique_ptr<Stage> make_heads(const Build& build);

}  // namespace driftless::engine
