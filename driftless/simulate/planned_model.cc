// SPDX-License-Identifier: Apache-2.0
#include "driftless/simulate/planned_model.h"

#include <algorithm>

#include "driftless/model/schedule.h"
#include "driftless/quant/plan/bias.h"
#include "driftless/reason/plan/linear_layers.h"

namespace driftless::simulate {

bool PlannedModel::needs_whole_boards() const {
  return std::any_of(layers.begin(), layers.end(),
                     [](const auto& item) { return item.second.needs_whole_input(); });
}

PlannedModel plan_model(const store::Checkpoint& checkpoint, const quant::QuantPlan& plan) {
  const std::vector<quant::LinearLayer> layers = reason::linear_layers(checkpoint.config);
  quant::require_fits(plan, layers, std::ssize(model::schedule(checkpoint.config)), "plan");
  PlannedModel model{checkpoint.tensors, {}, plan.attention};
  for (const quant::LinearLayer& layer : layers) {
    const quant::LayerPlan* const planned = plan.find(layer.name);
    if (planned == nullptr) continue;
    const store::Tensor& original = checkpoint.tensors.at(layer.name);
    const quant::ConstMat weight{original.values.data(), layer.outputs, layer.inputs};
    const auto& item =
        model.layers.emplace(layer.name, quant::PlannedLayer(*planned, weight)).first->second;
    store::Tensor& tensor = model.tensors.at(layer.name);
    tensor.values = item.multiplied_weight(weight);
    tensor.shape = {layer.outputs, item.length()};
    if (!layer.has_bias) continue;
    const std::string stem = layer.name.substr(0, layer.name.rfind('.'));
    std::vector<float>& bias = model.tensors.at(stem + ".bias").values;
    bias = quant::fake_quantize_bias(*planned, weight, bias);
  }
  return model;
}

PlannedModel planned_from(const store::PackedModel& packed) {
  PlannedModel model{packed.tensors, {}, packed.plan.attention};
  for (const auto& [name, weight] : packed.weights)
    model.tensors.emplace(name, store::decoded(weight));
  for (const quant::LinearLayer& layer : reason::linear_layers(packed.config)) {
    const quant::LayerPlan* const planned = packed.plan.find(layer.name);
    if (planned == nullptr) continue;
    const auto weight = packed.weights.find(layer.name);
    model.layers.emplace(
        layer.name, quant::PlannedLayer(*planned, layer.inputs,
                                        weight == packed.weights.end() ? std::vector<float>()
                                                                       : weight->second.factors));
  }
  return model;
}

}  // namespace driftless::simulate
