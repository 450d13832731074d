// SPDX-License-Identifier: Apache-2.0
#include "driftless/lab/widen.h"

#include <algorithm>
#include <cmath>

#include "driftless/base/error.h"
#include "driftless/model/shapes.h"

namespace driftless::lab {
namespace {

at::Tensor split_inputs(const at::Tensor& weight, const Split& split, Rng& rng) {
  const at::Tensor drawn = truncated_normal(weight.sizes().vec(), split.deviation, rng);
  if (split.unit == Split::Unit::Weight) {
    const at::Tensor share = drawn + 0.5;
    return at::cat({weight * share, weight * (1.0 - share)}, 1);
  }
  const at::Tensor half = weight * 0.5;
  const at::Tensor moved = drawn * weight.square().mean().sqrt();
  return at::cat({half + moved, half - moved}, 1);
}

// A gate_up projection keeps all gate rows before all up rows.
at::Tensor repeat_rows(const at::Tensor& weight, int64_t halves) {
  return weight.view({halves, 1, weight.size(0) / halves, weight.size(1)})
      .expand({halves, 2, weight.size(0) / halves, weight.size(1)})
      .reshape({2 * weight.size(0), weight.size(1)});
}

// Whether a matrix of the narrow model reads channels or inner neurons.
bool is_split(const model::ParamSpec& wide, const at::Tensor& narrow) {
  return wide.role == model::ParamRole::Weight && wide.name != model::kLogScaleName &&
         !wide.name.ends_with("embedding_weight") && narrow.sizes() != at::IntArrayRef(wide.shape);
}

at::Tensor widened(const model::ParamSpec& spec, const at::Tensor& narrow, const Split& split,
                   Rng& rng) {
  const std::string_view name = spec.name;
  if (spec.role == model::ParamRole::InitState || name == model::kLogScaleName)
    return narrow.repeat({2});
  // Look-ups are multiplied by sqrt(D).
  if (name.ends_with("embedding_weight")) return narrow.repeat({1, 2}) / std::sqrt(2.0);
  if (!is_split(spec, narrow)) return narrow.clone();
  at::Tensor wide = split_inputs(narrow, split, rng);
  if (wide.size(0) != spec.shape[0])
    wide = repeat_rows(wide, name.ends_with("gate_up_proj.weight") ? 2 : 1);
  return wide;
}

}  // namespace

const Split& find_split(std::string_view name) {
  const auto found = std::find_if(kSplits.begin(), kSplits.end(),
                                  [&](const Split& split) { return split.name == name; });
  DRIFTLESS_REQUIRE(found != kSplits.end(), ErrorCode::InvalidArgument, "widen: split; got '", name,
                    "', expected random or even");
  return *found;
}

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
                             const Split& split, Rng& rng) {
  NamedTensors wide;
  for (const model::ParamSpec& spec : model::parameters(widened_config(config))) {
    const auto found = named.find(spec.name);
    DRIFTLESS_REQUIRE(found != named.end(), ErrorCode::BadFile, "widen: no tensor '", spec.name,
                      "'; expected every weight of the model");
    wide[spec.name] = widened(spec, found->second, split, rng);
  }
  return wide;
}

Tails split_tails(const model::ModelConfig& config, const NamedTensors& narrow,
                  const NamedTensors& named) {
  Tails sum;
  double count = 0;
  for (const model::ParamSpec& spec : model::parameters(widened_config(config))) {
    if (!is_split(spec, narrow.at(spec.name))) continue;
    const at::Tensor squares = named.at(spec.name).to(at::kDouble).square();
    const double second = squares.mean().item<double>();
    if (second == 0) continue;
    sum.kurtosis += squares.square().mean().item<double>() / (second * second);
    sum.largest += std::sqrt(squares.max().item<double>() / second);
    ++count;
  }
  return {sum.kurtosis / count, sum.largest / count};
}

}  // namespace driftless::lab
