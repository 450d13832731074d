// SPDX-License-Identifier: Apache-2.0
#include "driftless/lab/widen.h"

#include <cmath>

#include "driftless/base/error.h"
#include "driftless/model/shapes.h"

namespace driftless::lab {
namespace {

at::Tensor split_inputs(const at::Tensor& weight, Rng& rng) {
  const at::Tensor share = truncated_normal(weight.sizes().vec(), 0.5, rng).add_(0.5);
  return at::cat({weight * share, weight * (1.0 - share)}, 1);
}

// A gate_up projection keeps all gate rows before all up rows.
at::Tensor repeat_rows(const at::Tensor& weight, int64_t halves) {
  return weight.view({halves, 1, weight.size(0) / halves, weight.size(1)})
      .expand({halves, 2, weight.size(0) / halves, weight.size(1)})
      .reshape({2 * weight.size(0), weight.size(1)});
}

at::Tensor widened(const model::ParamSpec& spec, const at::Tensor& narrow, Rng& rng) {
  const std::string_view name = spec.name;
  if (spec.role == model::ParamRole::InitState || name == model::kLogScaleName)
    return narrow.repeat({2});
  // Look-ups are multiplied by sqrt(D).
  if (name.ends_with("embedding_weight")) return narrow.repeat({1, 2}) / std::sqrt(2.0);
  if (narrow.sizes() == at::IntArrayRef(spec.shape)) return narrow.clone();
  at::Tensor wide = split_inputs(narrow, rng);
  if (wide.size(0) != spec.shape[0])
    wide = repeat_rows(wide, name.ends_with("gate_up_proj.weight") ? 2 : 1);
  return wide;
}

}  // namespace

model::ModelConfig widened_config(const model::ModelConfig& config) {
  model::ModelConfig wide = config;
  wide.hidden_size *= 2;
  DRIFTLESS_REQUIRE(config.mixer == model::Mixer::Tokens && config.puzzle_emb_len == 0 &&
                        model::swiglu_inner(wide.hidden_size, wide.expansion) ==
                            2 * model::swiglu_inner(config.hidden_size, config.expansion),
                    ErrorCode::Unsupported,
                    "widen: expected a token mixer without prefix rows whose inner width doubles "
                    "with its width");
  return wide;
}

NamedTensors widened_weights(const model::ModelConfig& config, const NamedTensors& named,
                             Rng& rng) {
  NamedTensors wide;
  for (const model::ParamSpec& spec : model::parameters(widened_config(config))) {
    const auto found = named.find(spec.name);
    DRIFTLESS_REQUIRE(found != named.end(), ErrorCode::BadFile, "widen: no tensor '", spec.name,
                      "'; expected every weight of the model");
    wide[spec.name] = widened(spec, found->second, rng);
  }
  return wide;
}

}  // namespace driftless::lab
