// SPDX-License-Identifier: Apache-2.0
// What all CPU backends share: slots, threads, the order of stages that model::schedule gives, and
// what observers see. A backend brings its blocks and heads. Results depend on the weights and the
// board only: not on the number of slots or what the other slots hold, and not on the number of
// threads where the backend's stages do not.
#pragma once

#include <cstdint>
#include <memory>

#include "driftless/loop/block_builder.h"
#include "driftless/loop/kernels/epilogues.h"
#include "driftless/reason/reasoner.h"
#include "driftless/store/checkpoint.h"

namespace driftless::loop {

/// References are needed during make_stage_reasoner only, but for the epilogues.
struct StageModel {
  const model::ModelConfig& config;
  const store::TensorMap& tensors;  ///< embeddings and initial states are taken from here
  Layout layout;
  int64_t slots;
  int64_t threads;
  const EpilogueSet& epilogues;
  BlockBuilder& builder;
  const SlotMemory& memory;  ///< what the stages of the builder claim
  bool shows_inputs = true;  ///< false: refuses observers that want the inputs of layers
};

/// Throws InvalidArgument on a bad number of slots or threads.
std::unique_ptr<reason::Reasoner> make_stage_reasoner(const StageModel& model);

}  // namespace driftless::loop
