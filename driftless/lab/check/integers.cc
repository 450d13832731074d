// SPDX-License-Identifier: Apache-2.0
// Integers on the device against the native engine: every bit of a step's states and heads.
#include <algorithm>
#include <string>
#include <vector>

#include "driftless/lab/check/kit.h"
#include "driftless/lab/reasoner/torch_reasoner.h"
#include "driftless/quant/plan/plan.h"
#include "driftless/reason/plan/linear_layers.h"
#include "driftless/store/packed_model.h"
#include "driftless/store/random_checkpoint.h"

namespace driftless::lab {
namespace {

struct Shape {
  int64_t boards;
  int64_t cells;
  int64_t prefix;
  int64_t width;
  int64_t heads = 0;  ///< 0: token mixers
};
// Less than a tile of 128, a row more than one, and the shapes of the Sudoku models and of mazes.
constexpr Shape kShapes[] = {{1, 5, 0, 24},     {2, 129, 0, 136},   {3, 81, 0, 256},
                             {64, 81, 16, 512}, {3, 50, 1, 120, 3}, {2, 900, 0, 128, 4}};

struct Formats {
  const char* weights;
  const char* acts;
};
constexpr Formats kFormats[] = {
    {"mxint4,window=4", "mxint4,window=4"},
    {"int8/channel", "int8/token"},
    {"int4_full/block32,scale=s4m3,window=0", "int4_full/block32,scale=s4m3,window=0"}};

model::ModelConfig config_of(const Shape& shape) {
  model::ModelConfig config;
  const bool has_attention = shape.heads > 0;
  config.mixer = has_attention ? model::Mixer::Attention : model::Mixer::Tokens;
  config.positions = has_attention ? model::Positions::Rope : model::Positions::None;
  config.vocab_size = 11;
  config.seq_len = shape.cells;
  config.hidden_size = shape.width;
  config.num_heads = std::max<int64_t>(shape.heads, 1);
  config.puzzle_emb_len = shape.prefix;
  config.puzzle_emb_ndim = shape.prefix > 0 ? shape.width : 0;
  config.h_cycles = config.l_cycles = 2;
  return config;
}

std::vector<uint8_t> tokens_of(const model::ModelConfig& config, uint64_t seed) {
  Rng rng(seed);
  std::vector<uint8_t> tokens(static_cast<size_t>(config.seq_len));
  for (uint8_t& token : tokens)
    token = static_cast<uint8_t>(rng.below(static_cast<uint64_t>(config.vocab_size)));
  return tokens;
}

/// States and what the heads say of every board after two steps.
std::vector<std::vector<float>> outputs_of(reason::Reasoner& reasoner) {
  std::vector<int64_t> slots;
  for (int64_t slot = 0; slot < reasoner.slot_count(); ++slot) {
    slots.push_back(slot);
    reasoner.reset(slot, {.tokens = tokens_of(reasoner.config(), static_cast<uint64_t>(slot))});
  }
  for (int step = 0; step < 2; ++step) reasoner.step(slots);
  std::vector<std::vector<float>> outputs;
  for (const int64_t slot : slots) {
    const reason::States states = reasoner.states(slot);
    const reason::Readout readout = reasoner.read(slot);
    std::vector<float>& out = outputs.emplace_back(states.h.begin(), states.h.end());
    out.insert(out.end(), states.l.begin(), states.l.end());
    out.insert(out.end(), readout.logits.begin(), readout.logits.end());
    out.insert(out.end(), {readout.halt_logit, readout.continue_logit});
  }
  return outputs;
}

}  // namespace

void check_integers(CheckKit& kit, const MakeNative& make_native) {
  for (const Shape& shape : kShapes)
    for (const Formats& formats : kFormats) {
      const model::ModelConfig config = config_of(shape);
      const store::PackedModel model = store::pack_model(
          store::random_checkpoint(config, 3),
          quant::resolve({.weights = quant::parse_quant_spec(formats.weights),
                          .acts = quant::parse_quant_spec(formats.acts),
                          .attention = shape.heads > 0 ? quant::AttentionPrecision::Int8
                                                       : quant::AttentionPrecision::Float},
                         reason::linear_layers(config)));
      const auto expected = outputs_of(*make_native(model, shape.boards));
      const auto got =
          outputs_of(*make_integer_reasoner(model, {.device = "cuda", .slots = shape.boards}));
      int64_t others = 0;
      for (size_t i = 0; i < expected.size(); ++i) others += got[i] != expected[i] ? 1 : 0;
      kit.report("integers, " + std::string(formats.acts) + ", width " +
                     std::to_string(shape.width) + ": boards that differ",
                 static_cast<double>(others), 0);
    }
}

}  // namespace driftless::lab
