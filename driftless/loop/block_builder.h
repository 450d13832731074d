// SPDX-License-Identifier: Apache-2.0
// What a CPU backend brings: the sublayers of a block and the heads. A block is what mixes
// positions, then what mixes channels, each followed by its residual and norm: h <- norm(h +
// sublayer(h)).
#pragma once

#include <memory>
#include <string>

#include "driftless/loop/stage.h"
#include "driftless/model/config.h"

namespace driftless::loop {

class BlockBuilder {
 public:
  virtual ~BlockBuilder() = default;
  /// Each appends the stages of the sublayer whose parameters start with `prefix`.
  virtual void add_token_mixer(Stages& stages, const std::string& prefix) = 0;
  virtual void add_attention(Stages& stages, const std::string& prefix) = 0;
  virtual void add_channel_mixer(Stages& stages, const std::string& prefix) = 0;
  virtual std::unique_ptr<Stage> make_heads() = 0;
};

/// Appends the stages of the block whose parameters start with `prefix`.
void add_block(Stages& stages, BlockBuilder& builder, const model::ModelConfig& config,
               const std::string& prefix);

}  // namespace driftless::loop
