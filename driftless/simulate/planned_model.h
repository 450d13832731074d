// SPDX-License-Identifier: Apache-2.0
// A checkpoint under a quantization plan: weights and biases as the products see them.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "driftless/quant/plan/planned_layer.h"
#include "driftless/store/packed_model.h"

namespace driftless::simulate {

/// By the name of the weight.
using PlannedLayers = std::map<std::string, quant::PlannedLayer, std::less<>>;

struct PlannedModel {
  store::TensorMap tensors;  // rotated weights may have more inputs than the configuration says
  PlannedLayers layers;
  quant::AttentionPrecision attention = quant::AttentionPrecision::Float;

  /// Whether an input must not be cut into parts, because one of its scales depends on all of it.
  [[nodiscard]] bool needs_whole_boards() const;
};

/// Requires a complete checkpoint. Throws what quant::require_fits and quant::PlannedLayer throw.
PlannedModel plan_model(const store::Checkpoint& checkpoint, const quant::QuantPlan& plan);

/// The same from packed weights: what plan_model gives for their source, bit for bit.
PlannedModel planned_from(const store::PackedModel& packed);

}  // namespace driftless::simulate
