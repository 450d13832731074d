// SPDX-License-Identifier: Apache-2.0
// The stages around the blocks: what enters a network call and what leaves it.
#pragma once

#include <memory>

#include "driftless/loop/kernels/epilogues.h"
#include "driftless/loop/stage.h"
#include "driftless/model/schedule.h"
#include "driftless/store/checkpoint.h"

namespace driftless::loop {

struct RecursionShape {
  const model::ModelConfig& config;
  Layout layout;
  const EpilogueSet& epilogues;
};

/// h <- h + injection; keeps the state as it was before where the model damps.
std::unique_ptr<Stage> make_inject(const RecursionShape& shape, model::Injection injection);

/// What follows a call; null for After::Nothing. Random numbers are drawn row by row from the
/// slot's generator.
std::unique_ptr<Stage> make_after(model::After after, const RecursionShape& shape,
                                  const store::TensorMap& tensors);

/// Shows the logits and halt logits of a slot to an observer that wants them.
void show_outputs(const Work& work, const model::ModelConfig& config);

}  // namespace driftless::loop
