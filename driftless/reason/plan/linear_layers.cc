// SPDX-License-Identifier: Apache-2.0
#include "driftless/reason/plan/linear_layers.h"

#include <algorithm>
#include <string>

#include "driftless/model/shapes.h"

namespace driftless::reason {

std::vector<quant::LinearLayer> linear_layers(const model::ModelConfig& config) {
  const std::vector<model::ParamSpec> params = model::parameters(config);
  const auto exists = [&](const std::string& name) {
    return std::any_of(params.begin(), params.end(),
                       [&](const model::ParamSpec& spec) { return spec.name == name; });
  };
  constexpr std::string_view kSuffix = ".weight";
  std::vector<quant::LinearLayer> layers;
  for (const model::ParamSpec& spec : params) {
    // Embeddings are called otherwise: embedding_weight, puzzle_emb.weights.
    if (!spec.name.ends_with(kSuffix)) continue;
    const std::string stem = spec.name.substr(0, spec.name.size() - kSuffix.size());
    layers.push_back({.name = spec.name,
                      .outputs = spec.shape[0],
                      .inputs = spec.shape[1],
                      .is_in_block = spec.name.find(".layers.") != std::string::npos,
                      .has_bias = exists(stem + ".bias"),
                      .feeds_attention = stem.ends_with(".qkv_proj")});
  }
  return layers;
}

}  // namespace driftless::reason
