// SPDX-License-Identifier: Apache-2.0
#include "driftless/model/shapes.h"

#include <cmath>

namespace driftless::model {
namespace {

constexpr int64_t kInnerMultiple = 256;
constexpr int64_t kHaltOutputs = 2;  // halt and continue logit

using Params = std::vector<ParamSpec>;

void add_weight(Params& params, std::string name, int64_t rows, int64_t columns) {
  params.push_back({std::move(name), {rows, columns}, ParamRole::Weight});
}

void add_swiglu(Params& params, const std::string& prefix, int64_t width, double expansion) {
  const int64_t inner = swiglu_inner(width, expansion);
  add_weight(params, prefix + ".gate_up_proj.weight", 2 * inner, width);
  add_weight(params, prefix + ".down_proj.weight", width, inner);
}

void add_block(Params& params, const std::string& prefix, const ModelConfig& config) {
  const int64_t width = config.hidden_size;
  if (config.mixer == Mixer::Tokens) {
    add_swiglu(params, prefix + ".mlp_t", positions_count(config), config.expansion);
  } else {
    add_weight(params, prefix + ".self_attn.qkv_proj.weight", 3 * width, width);
    add_weight(params, prefix + ".self_attn.o_proj.weight", width, width);
  }
  add_swiglu(params, prefix + ".mlp", width, config.expansion);
}

}  // namespace

int64_t positions_count(const ModelConfig& config) {
  return config.puzzle_emb_len + config.seq_len;
}

int64_t head_width(const ModelConfig& config) { return config.hidden_size / config.num_heads; }

int64_t swiglu_inner(int64_t width, double expansion) {
  // nearbyint rounds ties to even, as the reference does.
  const auto rounded =
      static_cast<int64_t>(std::nearbyint(expansion * static_cast<double>(width) * 2 / 3));
  return (rounded + kInnerMultiple - 1) / kInnerMultiple * kInnerMultiple;
}

std::vector<Network> networks(const ModelConfig& config) {
  switch (architecture(config).tying) {
    case Tying::All:
      return {{"L_level", config.num_layers}};
    case Tying::ByState:
      return {{"L_level", config.num_layers}, {"H_level", config.h_layers}};
    case Tying::ByCycle:
      break;
  }
  std::vector<Network> untied;
  for (int64_t i = 0; i <= config.l_cycles; ++i)
    untied.push_back({"L_level.cycles." + std::to_string(i), config.num_layers});
  return untied;
}

std::string layer_name(const Network& network, int64_t layer) {
  return network.name + ".layers." + std::to_string(layer);
}

std::vector<ParamSpec> parameters(const ModelConfig& config) {
  Params params;
  const int64_t width = config.hidden_size;
  if (architecture(config).start == StartStates::Learned) {
    params.push_back({"H_init", {width}, ParamRole::InitState});
    params.push_back({"L_init", {width}, ParamRole::InitState});
  }
  add_weight(params, "embed_tokens.embedding_weight", config.vocab_size, width);
  if (config.positions == Positions::Learned)
    add_weight(params, "embed_pos.embedding_weight", positions_count(config), width);
  if (config.puzzle_emb_len > 0)
    params.push_back({"puzzle_emb.weights",
                      {config.num_puzzle_identifiers, config.puzzle_emb_ndim},
                      ParamRole::PuzzleTable});
  for (const Network& network : networks(config))
    for (int64_t layer = 0; layer < network.num_layers; ++layer)
      add_block(params, layer_name(network, layer), config);
  if (architecture(config).has(After::Perturb))
    params.push_back({std::string(kLogScaleName), {width}, ParamRole::Weight});
  add_weight(params, "lm_head.weight", config.vocab_size, width);
  add_weight(params, "q_head.weight", kHaltOutputs, width);
  params.push_back({"q_head.bias", {kHaltOutputs}, ParamRole::Weight});
  return params;
}

int64_t element_count(const ParamSpec& spec) {
  int64_t count = 1;
  for (const int64_t extent : spec.shape) count *= extent;
  return count;
}

int64_t trainable_count(const ModelConfig& config) {
  int64_t count = 0;
  for (const ParamSpec& spec : parameters(config))
    if (spec.role == ParamRole::Weight) count += element_count(spec);
  return count;
}

}  // namespace driftless::model
