// SPDX-License-Identifier: Apache-2.0
// Growing a trained model: twice the width, the same function.
#pragma once

#include "driftless/base/rng.h"
#include "driftless/lab/net/parameters.h"
#include "driftless/model/config.h"

namespace driftless::lab {

/// The configuration with hidden_size doubled. Throws Unsupported for attention, prefix rows and
/// widths whose inner width does not double with them.
model::ModelConfig widened_config(const model::ModelConfig& config);

/// Weights of widened_config(config) that compute what `named` computes: every channel exists
/// twice, and each weight that reads a channel is split at random between the two, by shares with
/// mean 1/2 and standard deviation 1/2. The shares keep a weight's scale at 1/sqrt(fan in) and give
/// the twins different gradients, so that training tells them apart.
NamedTensors widened_weights(const model::ModelConfig& config, const NamedTensors& named, Rng& rng);

}  // namespace driftless::lab
