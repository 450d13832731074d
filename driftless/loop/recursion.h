// SPDX-License-Identifier: Apache-2.0
// The stages around the blocks: what enters a network call and what leaves it.
#pragma once

#include <memory>
#include <span>

#include "driftless/loop/kernels/epilogues.h"
#include "driftless/loop/stage.h"
#include "driftless/model/schedule.h"

namespace driftless::loop {

struct RecursionShape {
  const model::ModelConfig& config;
  Layout layout;
  const EpilogueSet& epilogues;
};

/// h <- h + injection; keeps the state as it was before where the model damps.
std::unique_ptr<Stage> make_inject(const RecursionShape& shape, model::Injection injection);

/// After::Damp: h <- (1 - lambda) * previous + lambda * h + noise_scale * N(0, I), drawn row by row
/// from the slot's generator.
std::unique_ptr<Stage> make_damp(const RecursionShape& shape);

/// After::Perturb: h <- h + deviation of the channel * N(0, I), drawn as above. `log_scale` is [D].
std::unique_ptr<Stage> make_perturb(const RecursionShape& shape, std::span<const float> log_scale);

/// Shows the logits and halt logits of a slot to an observer that wants them.
void show_outputs(const Work& work, const model::ModelConfig& config);

}  // namespace driftless::loop
