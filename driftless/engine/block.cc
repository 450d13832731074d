// SPDX-License-Identifier: Apache-2.0
#include "driftless/engine/block.h"

namespace driftless::engine {

void add_block(Stages& stages, const Build& build, const std::string& prefix) {
  if (build.config.mixer == model::Mixer::Tokens)
    add_token_mixer(stages, build, prefix + ".mlp_t");
  else
    add_attention(stages, build, prefix + ".self_attn");
  add_channel_mixer(stages, build, prefix + ".mlp");
}

}  // namespace driftless::engine
