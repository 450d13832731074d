// SPDX-License-Identifier: Apache-2.0
// Small models of every architecture with random weights, for tests of the engine.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "driftless/base/rng.h"
#include "driftless/model/config.h"
#include "driftless/model/shapes.h"
#include "driftless/store/random_checkpoint.h"

namespace driftless::simulate::testing {

struct NamedConfig {
  std::string name;
  model::ModelConfig config;
};

/// Every architecture, mixer, position encoding and prefix at least once. Rows 6, 53 and 100 need
/// one, two and three row parts (with padding), width 256 needs two channel parts.
inline std::vector<NamedConfig> named_configs() {
  using model::Arch;
  using model::Mixer;
  using model::Positions;
  model::ModelConfig base;
  base.vocab_size = 7;
  base.seq_len = 6;
  base.hidden_size = 24;
  base.num_heads = 3;
  base.puzzle_emb_len = 0;
  base.puzzle_emb_ndim = 0;
  base.h_cycles = 2;
  base.l_cycles = 2;
  base.positions = Positions::None;
  const auto with = [&](std::string name, auto&& change) {
    NamedConfig named{std::move(name), base};
    change(named.config);
    return named;
  };
  const auto prefix = [](model::ModelConfig& c, int64_t rows) {
    c.puzzle_emb_len = rows;
    c.puzzle_emb_ndim = c.hidden_size;
    c.num_puzzle_identifiers = 3;
  };
  return {
      with("TrmTokens", [](auto& c) { c.mixer = Mixer::Tokens; }),
      with("TrmTokensPartsPrefix",
           [&](auto& c) {
             c.mixer = Mixer::Tokens;
             c.hidden_size = 256;
             c.num_heads = 4;
             c.seq_len = 49;
             c.num_layers = c.h_cycles = 1;
             prefix(c, 4);
           }),
      with("TrmTokensLearned",
           [](auto& c) {
             c.mixer = Mixer::Tokens;
             c.positions = Positions::Learned;
           }),
      with("TrmAttentionNone", [](auto&) {}),
      with("TrmAttentionRopePrefix",
           [&](auto& c) {
             c.positions = Positions::Rope;
             c.seq_len = 97;
             c.h_cycles = 1;
             prefix(c, 3);
           }),
      with("TrmAttentionLearned", [](auto& c) { c.positions = Positions::Learned; }),
      with("HrmRope",
           [&](auto& c) {
             c.arch = Arch::Hrm;
             c.positions = Positions::Rope;
             c.h_layers = 3;
             prefix(c, 1);
           }),
      with("EqrTokens",
           [](auto& c) {
             c.arch = Arch::Eqr;
             c.mixer = Mixer::Tokens;
           }),
      with("EqrRope2d",
           [](auto& c) {
             c.arch = Arch::Eqr;
             c.positions = Positions::Rope2d;
             c.board_width = 3;
             c.l_init_std = 2;
           }),
      with("TrmStochasticTokens",
           [](auto& c) {
             c.arch = Arch::TrmStochastic;
             c.mixer = Mixer::Tokens;
             c.noise_scale = 0.1;
           }),
      with("TrmUntiedTokens",
           [](auto& c) {
             c.arch = Arch::TrmUntied;
             c.mixer = Mixer::Tokens;
           }),
  };
}

using store::random_checkpoint;

inline std::vector<uint8_t> random_tokens(const model::ModelConfig& config, uint64_t seed) {
  Rng rng(seed);
  std::vector<uint8_t> tokens;
  for (int64_t i = 0; i < config.seq_len; ++i)
    tokens.push_back(static_cast<uint8_t>(rng.below(static_cast<uint64_t>(config.vocab_size))));
  return tokens;
}

}  // namespace driftless::simulate::testing
