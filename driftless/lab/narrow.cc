// SPDX-License-Identifier: Apache-2.0
#include "driftless/lab/narrow.h"

#include <cmath>
#include <string>
#include <string_view>
#include <tuple>

#include "driftless/base/error.h"
#include "driftless/model/shapes.h"

namespace driftless::lab {
namespace {

constexpr std::string_view kGateUp = ".gate_up_proj.weight";
constexpr std::string_view kDown = ".down_proj.weight";

// The places of the `count` largest, in the order of the places.
at::Tensor largest(const at::Tensor& weights, int64_t count) {
  const at::Tensor order = weights.argsort(/*stable=*/true, /*dim=*/0, /*descending=*/true);
  return std::get<0>(order.slice(0, 0, count).sort());
}

at::Tensor relative(const at::Tensor& squares) { return squares / squares.mean(); }

bool is_lookup(std::string_view name) { return name.ends_with("embedding_weight"); }

// Channels with the largest sums of squares of the weights that read them or write them.
at::Tensor kept_channels(const model::ModelConfig& config, const NamedTensors& named,
                         int64_t width) {
  at::Tensor weight = at::zeros({config.hidden_size});
  for (const auto& [name, tensor] : named) {
    const bool reads =
        name.ends_with(".mlp.gate_up_proj.weight") || name == "lm_head.weight" || is_lookup(name);
    const bool writes = name.ends_with(".mlp.down_proj.weight");
    if (reads || writes) weight += relative(tensor.square().sum(reads ? 0 : 1));
  }
  return largest(weight, width);
}

at::Tensor kept_neurons(const at::Tensor& gate_up, const at::Tensor& down, int64_t inner) {
  const at::Tensor rows = gate_up.square().sum(1);
  const int64_t wide = down.size(1);
  return largest(rows.slice(0, 0, wide) * rows.slice(0, wide) * down.square().sum(0), inner);
}

// Of fewer inputs, scaled so that the matrix keeps its norm.
at::Tensor read_less(const at::Tensor& weight, const at::Tensor& inputs) {
  const at::Tensor kept = weight.index_select(1, inputs);
  const double before = weight.norm().item<double>();
  const double after = kept.norm().item<double>();
  return after > 0 ? kept * (before / after) : kept;
}

// gate_up and down of "…mlp" or "…mlp_t", which reads and writes the same channels or cells.
void narrow_swiglu(const std::string& prefix, const at::Tensor& along, int64_t inner,
                   const NamedTensors& named, NamedTensors& narrow) {
  const std::string gate_up_name = prefix + std::string(kGateUp);
  const std::string down_name = prefix + std::string(kDown);
  const at::Tensor& gate_up = named.at(gate_up_name);
  const at::Tensor& down = named.at(down_name);
  const at::Tensor neurons = kept_neurons(gate_up, down, inner);
  const at::Tensor rows = at::cat({neurons, neurons + down.size(1)});
  narrow[gate_up_name] = read_less(gate_up.index_select(0, rows), along);
  narrow[down_name] = read_less(down.index_select(0, along), neurons);
}

// Any other parameter.
at::Tensor narrowed(std::string_view name, const at::Tensor& wide, const at::Tensor& channels) {
  if (name == "q_head.bias") return wide.clone();
  if (wide.dim() == 1) return wide.index_select(0, channels);  // initial states, learned noise
  if (!is_lookup(name)) return read_less(wide, channels);      // heads
  // Look-ups are multiplied by sqrt(D).
  const double less = static_cast<double>(wide.size(1)) / static_cast<double>(channels.size(0));
  return wide.index_select(1, channels) * std::sqrt(less);
}

}  // namespace

model::ModelConfig narrowed_config(const model::ModelConfig& config, const NarrowSizes& sizes) {
  model::ModelConfig narrow = config;
  narrow.hidden_size = sizes.width;
  if (sizes.expansion > 0) narrow.expansion = sizes.expansion;
  DRIFTLESS_REQUIRE(config.mixer == model::Mixer::Tokens && config.puzzle_emb_len == 0,
                    ErrorCode::Unsupported, "narrow: got ",
                    config.mixer == model::Mixer::Tokens ? "a model with prefix rows" : "attention",
                    ", expected a token mixer without prefix rows");
  DRIFTLESS_REQUIRE(
      sizes.width >= 1 && sizes.width <= config.hidden_size && narrow.expansion <= config.expansion,
      ErrorCode::InvalidArgument, "narrow: got width ", sizes.width, " and expansion ",
      narrow.expansion, ", expected at most ", config.hidden_size, " and ", config.expansion,
      ", the model's own; 'driftless train widen' doubles a width");
  return narrow;
}

NamedTensors narrowed_weights(const model::ModelConfig& config, const NamedTensors& named,
                              const model::ModelConfig& narrow) {
  const at::Tensor channels = kept_channels(config, named, narrow.hidden_size);
  const at::Tensor cells = at::arange(config.seq_len);
  NamedTensors kept;
  for (const model::ParamSpec& spec : model::parameters(narrow)) {
    const auto found = named.find(spec.name);
    DRIFTLESS_REQUIRE(found != named.end(), ErrorCode::BadFile, "narrow: no tensor '", spec.name,
                      "'; expected every weight of the model");
    if (spec.name.ends_with(kGateUp)) continue;  // with its down projection
    if (!spec.name.ends_with(kDown)) {
      kept[spec.name] = narrowed(spec.name, found->second, channels);
      continue;
    }
    const std::string prefix = spec.name.substr(0, spec.name.size() - kDown.size());
    const at::Tensor& along = prefix.ends_with(".mlp_t") ? cells : channels;
    narrow_swiglu(prefix, along, spec.shape[1], named, kept);
  }
  return kept;
}

}  // namespace driftless::lab
