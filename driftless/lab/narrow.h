// SPDX-License-Identifier: Apache-2.0
// Shrinking a trained model: a start for a narrower one that keeps the channels and inner neurons
// that weigh most. It does not solve what the wide model solves; it knows which cells concern each
// other, and training goes on from there.
#pragma once

#include "driftless/lab/net/parameters.h"
#include "driftless/model/config.h"

namespace driftless::lab {

struct NarrowSizes {
  int64_t width = 0;     ///< hidden_size of the narrow model
  double expansion = 0;  ///< of its SwiGLUs; 0 keeps the wide model's
};

/// The configuration with these sizes. Throws Unsupported for attention and prefix rows,
/// InvalidArgument where a size would grow.
model::ModelConfig narrowed_config(const model::ModelConfig& config, const NarrowSizes& sizes);

/// Weights of `narrow` = narrowed_config(...). A channel weighs the squares of the weights
/// that read or write it, but for the halting head's, each matrix relative to its mean; a neuron
/// the product of the squares of its gate, its up and its down weights. A matrix that reads less
/// than before is scaled so that what is left of its rows keeps their sum of squares.
NamedTensors narrowed_weights(const model::ModelConfig& config, const NamedTensors& named,
                              const model::ModelConfig& narrow);

}  // namespace driftless::lab
