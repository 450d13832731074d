// SPDX-License-Identifier: Apache-2.0
// Models with random weights: as fast as trained ones, for shapes that no trained model has.
#pragma once

#include <cstdint>
#include <string_view>

#include "driftless/store/checkpoint.h"

namespace driftless::bench {

/// A published configuration (model/presets.h), with another D where `width` is not 0. Throws what
/// find_preset and random_model throw.
store::Checkpoint random_preset(std::string_view name, int64_t width);

/// Normal weights with the deviation 1 / sqrt(fan in), so that sums have order 1. Throws BadConfig
/// for a configuration that is none.
store::Checkpoint random_model(const model::ModelConfig& config, uint64_t seed);

}  // namespace driftless::bench
