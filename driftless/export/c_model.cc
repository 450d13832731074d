// SPDX-License-Identifier: Apache-2.0
// What a packed model is to the exporter.
#include <algorithm>

#include "driftless/base/error.h"
#include "driftless/export/c_plan.h"
#include "driftless/model/shapes.h"

namespace driftless::exporter {
namespace {

/// Rows in tiles of at most `most`, as even as can be.
int64_t even_tile(int64_t rows, int64_t most) {
  const int64_t tiles = (rows + most - 1) / most;
  return (rows + tiles - 1) / tiles;
}

CBlock block_of(const store::PackedModel& model, const std::string& prefix) {
  const bool has_tokens = model.config.mixer == model::Mixer::Tokens;
  const std::string mixer = prefix + (has_tokens ? ".mlp_t" : ".self_attn");
  return {c_linear(model, mixer + (has_tokens ? ".gate_up_proj.weight" : ".qkv_proj.weight")),
          c_linear(model, mixer + (has_tokens ? ".down_proj.weight" : ".o_proj.weight")),
          c_linear(model, prefix + ".mlp.gate_up_proj.weight"),
          c_linear(model, prefix + ".mlp.down_proj.weight")};
}

std::vector<CLinear> head_of(const store::PackedModel& model, const char* name) {
  if (model.plan.find(name) == nullptr) return {};
  return {c_linear(model, name)};
}

}  // namespace

std::vector<const CLinear*> CModel::layers() const {
  std::vector<const CLinear*> out;
  for (const CBlock& block : blocks)
    for (const CLinear* layer : {&block.first, &block.second, &block.gate_up, &block.down})
      out.push_back(layer);
  for (const auto* heads : {&logits_head, &halt_head})
    for (const CLinear& head : *heads) out.push_back(&head);
  return out;
}

CModel c_model_of(const store::PackedModel& model, int64_t tile) {
  const model::Architecture& arch = model::architecture(model.config);
  DRIFTLESS_REQUIRE(!arch.draws_noise() && arch.start == model::StartStates::Learned,
                    ErrorCode::Unsupported, "export c: architecture '", arch.name,
                    "' draws random numbers; expected trm, hrm or trm-untied");
  CModel out{.config = model.config,
             .has_int8_attention = model.plan.attention == quant::AttentionPrecision::Int8,
             .blocks = {},
             .network_first = {0},
             .logits_head = head_of(model, "lm_head.weight"),
             .halt_head = head_of(model, "q_head.weight"),
             .position_tile = even_tile(model::positions_count(model.config), tile),
             .channel_tile = even_tile(model.config.hidden_size, tile)};
  for (const model::Network& network : model::networks(model.config)) {
    for (int64_t layer = 0; layer < network.num_layers; ++layer)
      out.blocks.push_back(block_of(model, model::layer_name(network, layer)));
    out.network_first.push_back(std::ssize(out.blocks));
  }
  return out;
}

}  // namespace driftless::exporter
