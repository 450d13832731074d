// SPDX-License-Identifier: Apache-2.0
// Models with random weights: as fast as trained ones, for shapes that no trained model has.
#pragma once

#include <cstdint>

#include "driftless/store/checkpoint.h"

namespace driftless::store {

/// Normal weights with the deviation 1 / sqrt(fan in), so that sums have order 1.
Checkpoint random_checkpoint(const model::ModelConfig& config, uint64_t seed);

}  // namespace driftless::store
