// SPDX-License-Identifier: Apache-2.0
#include "driftless/loop/block_builder.h"

namespace driftless::loop {

void add_block(Stages& stages, BlockBuilder& builder, const model::ModelConfig& config,
               const std::string& prefix) {
  if (config.mixer == model::Mixer::Tokens)
    builder.add_token_mixer(stages, prefix + ".mlp_t");
  else
    builder.add_attention(stages, prefix + ".self_attn");
  builder.add_channel_mixer(stages, prefix + ".mlp");
}

}  // namespace driftless::loop
