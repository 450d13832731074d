// SPDX-License-Identifier: Apache-2.0
// Published configurations to time, for shapes that no trained model has.
#pragma once

#include <cstdint>
#include <string_view>

#include "driftless/store/checkpoint.h"

namespace driftless::bench {

/// A published configuration (model/presets.h) with random weights, and with another D where
/// `width` is not 0. Throws what find_preset throws, and BadConfig for a width that does not fit.
store::Checkpoint random_preset(std::string_view name, int64_t width);

}  // namespace driftless::bench
