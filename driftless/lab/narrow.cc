// SPDX-License-Identifier: Apache-2.0
#include "driftless/lab/narrow.h"

#include <cmath>

#include "driftless/base/error.h"
#include "driftless/model/shapes.h"

namespace driftless::lab {
namespace {

// The places of the `count` largest, in the order of the places.
at::Tensor largest(const at::Tensor& weights, int64_t count) {
  const at::Tensor order = weights.argsort(/*stable=*/true, /*dim=*/0, /*descending=*/true);
  return std::get<0>(order.slice(0, 0, count).sort());
}

at::Tensor relative(const at::Tensor& squares) { return squares / squares.mean(); }

// Squares of what reads (dimension 0 of the sum) or writes (1) each channel.
at::Tensor kept_channels(const model::ModelConfig& config, const NamedTensors& named,
                         int64_t width) {
  at::Tensor weight = at::zeros({config.hidden_size});
  for (const auto& [name, tensor] : named) {
    if (name.ends_with(".mlp.gate_up_proj.weight") || name == "lm_head.weight" ||
        name.ends_with("embedding_weight"))
      weight += relative(tensor.square().sum(0));
    else if (name.ends_with(".mlp.down_proj.weight"))
      weight += relative(tensor.square().sum(1));
  }
  return largest(weight, width);
}

at::Tensor kept_neurons(const at::Tensor& gate_up, const at::Tensor& down, int64_t inner) {
  const at::Tensor rows = gate_up.square().sum(1);
  const int64_t wide = down.size(1);
  return largest(rows.slice(0, 0, wide) * rows.slice(0, wide) * down.square().sum(0), inner);
}

at::Tensor read_less(const at::Tensor& weight, const at::Tensor& inputs) {
  const at::Tensor kept = weight.index_select(1, inputs);
  const double before = weight.norm().item<double>();
  const double after = kept.norm().item<double>();
  return after > 0 ? kept * (before / after) : kept;
}

// gate_up and down of "…mlp" or "…mlp_t", which reads and writes the same channels or cells.
void narrow_swiglu(const std::string& prefix, const at::Tensor& along, int64_t inner,
                   const NamedTensors& named, NamedTensors& narrow) {
  const at::Tensor& gate_up = named.at(prefix + ".gate_up_proj.weight");
  const at::Tensor& down = named.at(prefix + ".down_proj.weight");
  const at::Tensor neurons = kept_neurons(gate_up, down, inner);
  const at::Tensor rows = at::cat({neurons, neurons + down.size(1)});
  narrow[prefix + ".gate_up_proj.weight"] = read_less(gate_up.index_select(0, rows), along);
  narrow[prefix + ".down_proj.weight"] = read_less(down.index_select(0, along), neurons);
}

}  // namespace

model::ModelConfig narrowed_config(const model::ModelConfig& config, const NarrowSizes& sizes) {
  model::ModelConfig narrow = config;
  narrow.hidden_size = sizes.width;
  if (sizes.expansion > 0) narrow.expansion = sizes.expansion;
  DRIFTLESS_REQUIRE(config.mixer == model::Mixer::Tokens && config.puzzle_emb_len == 0,
                    ErrorCode::Unsupported, "narrow: expected a token mixer without prefix rows");
  DRIFTLESS_REQUIRE(
      sizes.width >= 1 && sizes.width <= config.hidden_size && narrow.expansion <= config.expansion,
      ErrorCode::InvalidArgument, "narrow: width ", sizes.width, ", expansion ", narrow.expansion,
      "; expected at most ", config.hidden_size, " and ", config.expansion, ", the model's own");
  return narrow;
}

NamedTensors narrowed_weights(const model::ModelConfig& config, const NamedTensors& named,
                              const model::ModelConfig& narrow) {
  const at::Tensor channels = kept_channels(config, named, narrow.hidden_size);
  const at::Tensor cells = at::arange(config.seq_len);
  const double lookup =
      std::sqrt(static_cast<double>(config.hidden_size) / static_cast<double>(narrow.hidden_size));
  NamedTensors kept;
  for (const model::ParamSpec& spec : model::parameters(narrow)) {
    const auto found = named.find(spec.name);
    DRIFTLESS_REQUIRE(found != named.end(), ErrorCode::BadFile, "narrow: no tensor '", spec.name,
                      "'; expected every weight of the model");
    const at::Tensor& wide = found->second;
    constexpr std::string_view kDown = ".down_proj.weight";
    if (spec.name.ends_with(kDown)) {
      const std::string prefix = spec.name.substr(0, spec.name.size() - kDown.size());
      const at::Tensor& along = prefix.ends_with(".mlp_t") ? cells : channels;
      narrow_swiglu(prefix, along, spec.shape[1], named, kept);
    } else if (spec.role == model::ParamRole::InitState) {
      kept[spec.name] = wide.index_select(0, channels);
    } else if (spec.name.ends_with("embedding_weight")) {  // look-ups are multiplied by sqrt(D)
      kept[spec.name] = wide.index_select(1, channels) * lookup;
    } else if (wide.dim() == 2 && !spec.name.ends_with(".gate_up_proj.weight")) {  // heads
      kept[spec.name] = read_less(wide, channels);
    } else if (wide.dim() == 1) {
      kept[spec.name] = wide.clone();
    }
  }
  return kept;
}

}  // namespace driftless::lab
