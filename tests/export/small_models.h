// SPDX-License-Identifier: Apache-2.0
// Small packed models with random weights, between them every mixer, position, format and head that
// exported code knows.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "driftless/quant/plan/plan.h"
#include "driftless/reason/plan/linear_layers.h"
#include "driftless/store/packed_model.h"

#include "tests/simulate/random_model.h"

namespace driftless::exporter::testing {

struct SmallModel {
  std::string name;
  model::ModelConfig config;
  const char* weights = "mxint4,window=4";
  const char* acts = "mxint4,window=4";
  quant::Coverage coverage = quant::Coverage::Block;
  const char* attention = "none";
};

inline void PrintTo(const SmallModel& small, std::ostream* out) { *out << small.name; }

inline store::PackedModel packed(const SmallModel& small) {
  return store::pack_model(
      simulate::testing::random_checkpoint(small.config, 3),
      quant::resolve({.weights = quant::parse_quant_spec(small.weights),
                      .acts = quant::parse_quant_spec(small.acts),
                      .coverage = small.coverage,
                      .attention = quant::parse_attention_precision(small.attention)},
                     reason::linear_layers(small.config)));
}

inline model::ModelConfig config_named(const std::string& name) {
  for (const auto& named : simulate::testing::named_configs())
    if (named.name == name) return named.config;
  return {};
}

/// A token mixer whose rows end within a block, in mxint4: what runs on emulated boards.
inline SmallModel sudoku_like() {
  model::ModelConfig config = config_named("TrmTokens");
  config.seq_len = 81;
  config.vocab_size = 11;
  config.hidden_size = 40;
  config.num_layers = config.h_cycles = config.l_cycles = 1;
  return {.name = "SudokuLike", .config = config};
}

inline std::vector<SmallModel> small_models() {
  std::vector<SmallModel> all = {sudoku_like()};
  for (const auto& named : simulate::testing::named_configs())
    if (!model::architecture(named.config).draws_noise())
      all.push_back({.name = named.name, .config = named.config});
  const model::ModelConfig tokens = config_named("TrmTokens");
  const model::ModelConfig attention = config_named("TrmAttentionRopePrefix");
  const auto add = [&](const char* name, const model::ModelConfig& config, const char* weights,
                       const char* acts, quant::Coverage coverage = quant::Coverage::Block,
                       const char* precision = "none") {
    all.push_back({name, config, weights, acts, coverage, precision});
  };
  add("Heads", tokens, "mxint4,window=4", "mxint4,window=4", quant::Coverage::Linear);
  add("Int8", tokens, "int8/channel", "int8/token", quant::Coverage::Linear);
  add("Int8Tensor", attention, "int8/tensor", "int8/token");
  add("Int4", tokens, "int4/channel", "int4/token");
  add("MxInt3", tokens, "mxint3,window=4", "mxint3,window=4");
  add("MxInt2", tokens, "mxint2,window=4", "mxint2,window=4");
  add("MxInt8", attention, "mxint8,window=2", "mxint8,window=2", quant::Coverage::Linear);
  add("MxInt4Wide", tokens, "mxint4,window=8", "mxint4,window=8");
  add("MxInt6ByInt8", tokens, "mxint6,window=2", "int8/token");
  add("Rules", tokens, "mxint4,rule=mse,window=4", "mxint4,rule=round,window=1");
  add("AttentionInt8", attention, "mxint4,window=4", "mxint4,window=4", quant::Coverage::Block,
      "int8");
  return all;
}

}  // namespace driftless::exporter::testing
