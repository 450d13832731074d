// SPDX-License-Identifier: Apache-2.0
// The linear layers of a model as quantization plans know them.
#pragma once

#include <vector>

#include "driftless/model/config.h"
#include "driftless/quant/plan/scheme.h"

namespace driftless::reason {

/// Every linear layer, in the order of the checkpoint's parameters; the heads come last.
std::vector<quant::LinearLayer> linear_layers(const model::ModelConfig& config);

}  // namespace driftless::reason
