// SPDX-License-Identifier: Apache-2.0
// A Sudoku model with random weights: fast, and as wrong in float as in any other format.
#pragma once

#include <cstdint>
#include <filesystem>

#include "driftless/store/checkpoint.h"

#include "tests/simulate/random_model.h"

namespace driftless::cli_testing {

inline void save_tiny_model(const std::filesystem::path& path, uint64_t seed) {
  model::ModelConfig config;
  config.mixer = model::Mixer::Tokens;
  config.positions = model::Positions::None;
  config.puzzle_emb_len = 0;
  config.puzzle_emb_ndim = 0;
  config.hidden_size = 32;
  config.num_heads = 1;
  config.num_layers = 1;
  config.h_cycles = 2;
  config.l_cycles = 2;
  config.halt_max_steps = 3;
  store::save_checkpoint(path, simulate::testing::random_checkpoint(config, seed));
}

}  // namespace driftless::cli_testing
