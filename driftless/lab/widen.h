// SPDX-License-Identifier: Apache-2.0
// Growing a trained model: twice the width, the same function.
#pragma once

#include "driftless/base/rng.h"
#include "driftless/lab/net/parameters.h"
#include "driftless/lab/split.h"
#include "driftless/model/config.h"

namespace driftless::lab {

/// The configuration with hidden_size doubled. Throws Unsupported for attention, prefix rows and
/// widths whose inner width does not double with them.
model::ModelConfig widened_config(const model::ModelConfig& config);

/// Weights of widened_config(config) that compute what `named` computes: every channel exists
/// twice, and each weight that reads it is split between the two.
NamedTensors widened_weights(const model::ModelConfig& config, const NamedTensors& named,
                             const Split& split, Rng& rng);

/// What coarse formats of weights suffer from.
struct Tails {
  double kurtosis = 0;  ///< the fourth moment about zero over the square of the second
  double largest = 0;   ///< magnitude over the root mean square
};
/// Means over the matrices that widening splits, as `named` has them, the narrow ones or the wide
/// ones. Matrices of zeros, as heads are that nothing has trained, are left out.
Tails split_tails(const model::ModelConfig& config, const NamedTensors& narrow,
                  const NamedTensors& named);

}  // namespace driftless::lab
