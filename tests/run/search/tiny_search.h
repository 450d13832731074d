// SPDX-License-Identifier: Apache-2.0
// A Sudoku model with random weights whose layers are a block or two long.
#pragma once

#include "driftless/store/random_checkpoint.h"

namespace driftless::run::testing {

inline store::Checkpoint tiny_checkpoint() {
  model::ModelConfig config;
  config.mixer = model::Mixer::Tokens;
  config.positions = model::Positions::None;
  config.puzzle_emb_len = config.puzzle_emb_ndim = 0;
  config.hidden_size = 32;
  config.num_heads = config.num_layers = 1;
  config.h_cycles = config.l_cycles = 2;
  config.halt_max_steps = 3;
  return store::random_checkpoint(config, 1);
}

}  // namespace driftless::run::testing
