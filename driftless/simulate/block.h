// SPDX-License-Identifier: Apache-2.0
// What the stages of a model are built from, and the stages.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "driftless/loop/kernels/epilogues.h"
#include "driftless/loop/stage.h"
#include "driftless/simulate/dtype.h"
#include "driftless/simulate/planned_model.h"
#include "driftless/simulate/product/matmul.h"
#include "driftless/store/checkpoint.h"

namespace driftless::simulate {

using loop::EpilogueSet;
using loop::Layout;
using loop::real_rows;
using loop::Stage;
using loop::Stages;
using loop::Work;

/// By the name of the weight.
using IntegerLayers = std::map<std::string, IntegerArithmetic, std::less<>>;

/// What the stages of a model are built from.
struct Build {
  const model::ModelConfig& config;
  const store::TensorMap& tensors;
  Layout layout;
  Dtype dtype;
  int64_t workers;
  int64_t slots;
  const EpilogueSet& epilogues;
  const IntegerLayers& integers;  // planned layers that multiply integers
  const PlannedLayers& planned;   // what happens to inputs; `tensors` holds planned weights already
  quant::AttentionPrecision attention;
  loop::SlotMemory& memory;
};

std::unique_ptr<Stage> make_heads(const Build& build);

/// Sublayers whose parameters start with `prefix` (loop::BlockBuilder).
void add_token_mixer(Stages& stages, const Build& build, const std::string& prefix);
void add_attention(Stages& stages, const Build& build, const std::string& prefix);
void add_channel_mixer(Stages& stages, const Build& build, const std::string& prefix);

}  // namespace driftless::simulate
