// SPDX-License-Identifier: Apache-2.0
#include "driftless/export/c_data.h"

#include <algorithm>
#include <bit>
#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <utility>

#include "driftless/export/c_text.h"
#include "driftless/loop/rope.h"
#include "driftless/model/shapes.h"

namespace driftless::exporter {
namespace {

using model::Positions;

std::string define(const std::string& name, const std::string& value) {
  return "#define REASONER_" + name + " " + value + "\n";
}
std::string define(const std::string& name, int64_t value) {
  return define(name, std::to_string(value));
}

/// A tensor that the exported code reads value by value.
struct Table {
  const char* variable;
  std::string tensor;
};

std::vector<Table> tables(const CModel& model) {
  std::vector<Table> out = {{"token_table", "embed_tokens.embedding_weight"},
                            {"h_start", "H_init"},
                            {"l_start", "L_init"}};
  if (model.config.puzzle_emb_len > 0) out.push_back({"puzzle_table", "puzzle_emb.weights"});
  if (model.config.positions == Positions::Learned)
    out.push_back({"position_table", "embed_pos.embedding_weight"});
  if (model.logits_head.empty()) out.push_back({"logits_table", "lm_head.weight"});
  if (model.halt_head.empty()) out.push_back({"halt_table", "q_head.weight"});
  return out;
}

bool is_bfloat16(const std::vector<float>& values) {
  return std::all_of(values.begin(), values.end(),
                     [](float value) { return (std::bit_cast<uint32_t>(value) & 0xffff) == 0; });
}

std::string table_text(const Table& table, const std::vector<float>& values) {
  const std::string name = "reasoner_" + std::string(table.variable);
  const bool is_half = is_bfloat16(values);
  std::string text = "/* " + table.tensor + " */\n";
  if (is_half) {
    std::vector<uint16_t> halves;
    halves.reserve(values.size());
    for (const float value : values)
      halves.push_back(static_cast<uint16_t>(std::bit_cast<uint32_t>(value) >> 16));
    text += array(name, halves);
  } else {
    text += array(name, values);
  }
  return text + "static const table " + table.variable + " = {" +
         (is_half ? name + ", 0" : "0, " + name) + "};\n";
}

int64_t segments_of(const CModel& model) {
  const Positions positions = model.config.positions;
  if (!model.has_attention()) return 0;
  return positions == Positions::Rope ? 1 : positions == Positions::Rope2d ? 2 : 0;
}

/// Cosine and sine in turn, [positions][half a head]: what a turn makes of (1, 0).
std::vector<float> rope_turns(const CModel& model) {
  const int64_t segments = segments_of(model);
  const int64_t head = model::head_width(model.config);
  const int64_t half = segments == 0 ? 0 : head / segments / 2;
  const loop::Rope rope(model.config);
  std::vector<float> turns;
  for (int64_t row = 0; segments > 0 && row < model::positions_count(model.config); ++row) {
    std::vector<float> values(static_cast<size_t>(head));
    for (int64_t i = 0; i < head; ++i)
      values[static_cast<size_t>(i)] = i % (2 * half) < half ? 1.0f : 0.0f;
    rope.rotate(values.data(), 1, row);
    for (int64_t segment = 0; segment < segments; ++segment)
      for (int64_t i = 0; i < half; ++i)
        for (const int64_t part : {int64_t{0}, half})
          turns.push_back(values[static_cast<size_t>(segment * 2 * half + part + i)]);
  }
  return turns;
}

std::string scratch_rows(const std::string& stage, const std::string& name, int64_t blocks) {
  const std::string at = "(model)->scratch." + stage + "." + name;
  return "{" + at + ", " + at + "_shifts, " + at + "_scales, " + std::to_string(blocks) + "}";
}

std::string swiglu_scratch(const char* macro, const Stage& stage, const CLinear& gate_up,
                           const CLinear& down) {
  const bool has_floats = std::any_of(stage.fields.begin(), stage.fields.end(),
                                      [](const Field& field) { return field.name == "floats"; });
  const std::string at = "(model)->scratch." + stage.name + ".";
  return "#define " + std::string(macro) + "(model) {" +
         scratch_rows(stage.name, "input", blocks_of(gate_up.inputs)) + ", " +
         scratch_rows(stage.name, "hidden", blocks_of(down.inputs)) + ", " + at + "gate, " + at +
         "up, " + (has_floats ? at + "floats" : "0") + ", " + at + "work}\n";
}

std::string attention_scratch(const CModel& model) {
  std::string text = "#define ATTENTION_SCRATCH(model) {" +
                     scratch_rows("positions", "input", blocks_of(model.config.hidden_size));
  std::vector<const char*> names = {"work", "attended", "keys", "values", "queries", "scores"};
  if (model.has_int8_attention)
    for (const char* name : {"key_codes", "value_codes", "key_scales", "value_scales", "shares"})
      names.push_back(name);
  for (const char* name : names) text += std::string(", (model)->scratch.positions.") + name;
  return text + "}\n";
}

std::string scratch_macros(const CModel& model) {
  const std::vector<Stage> all = stages(model);
  const CBlock& block = model.blocks[0];
  std::string text = swiglu_scratch("CHANNEL_SCRATCH", all[1], block.gate_up, block.down);
  text += model.has_attention()
              ? attention_scratch(model)
              : swiglu_scratch("TOKEN_SCRATCH", all[0], block.first, block.second);
  if (all.size() > 2)
    text +=
        "#define HEAD_ROW(model) {(model)->scratch.head.codes, (model)->scratch.head.shifts, "
        "(model)->scratch.head.scales, " +
        std::to_string(blocks_of(model.config.hidden_size)) + "}\n";
  return text;
}

std::string blocks_text(const CModel& model) {
  std::string arrays, table = "static const struct {\n  " +
                              std::string(model.has_attention() ? "attention" : "swiglu") +
                              " positions;\n  swiglu channels;\n} blocks[" +
                              std::to_string(model.blocks.size()) + "] = {\n";
  for (size_t i = 0; i < model.blocks.size(); ++i) {
    const CBlock& block = model.blocks[i];
    const std::string prefix = "reasoner_block" + std::to_string(i);
    std::string row;
    for (const auto& [layer, name] :
         {std::pair{&block.first, "_mix_in"}, std::pair{&block.second, "_mix_out"},
          std::pair{&block.gate_up, "_gate_up"}, std::pair{&block.down, "_down"}}) {
      arrays += definitions(*layer, prefix + name);
      row += (row.empty()               ? "{{"
              : layer == &block.gate_up ? "},\n   {"
                                        : ",\n    ") +
             initializer(*layer, prefix + name);
    }
    table += "  " + row + "}},\n";
  }
  return arrays + table + "};\n";
}

std::string networks_text(const CModel& model) {
  std::string text =
      "static const uint8_t network_first[" + std::to_string(model.network_first.size()) + "] = {";
  for (const int64_t first : model.network_first) text += std::to_string(first) + ",";
  return text + "};\n";
}

}  // namespace

std::string size_macros(const CModel& model, uint64_t hash) {
  const model::ModelConfig& config = model.config;
  char hash_text[64];
  std::snprintf(hash_text, sizeof(hash_text),
                "(((uint64_t)0x%08" PRIx32 "u << 32) | 0x%08" PRIx32 "u)",
                static_cast<uint32_t>(hash >> 32), static_cast<uint32_t>(hash));
  const bool has_prefix = config.puzzle_emb_len > 0;
  return define("CELLS", config.seq_len) + define("VOCABULARY", config.vocab_size) +
         define("PUZZLES", has_prefix ? config.num_puzzle_identifiers : 1) +
         define("PREFIX", config.puzzle_emb_len) +
         define("POSITIONS", model::positions_count(config)) + define("WIDTH", config.hidden_size) +
         define("STEPS", config.halt_max_steps) +
         define("MULTIPLY_ADDS", std::to_string(multiply_adds(model)) + "u") +
         define("SELF_TEST_HASH", hash_text);
}

std::string mixer_macros(const CModel& model) {
  const auto layers = model.layers();
  const bool all_bytes = std::all_of(layers.begin(), layers.end(),
                                     [](const CLinear* layer) { return layer->fits_bytes(); });
  return define("TILE", std::max(model.position_tile, model.channel_tile)) +
         define("POSITION_TILE", model.position_tile) + define("CHANNEL_TILE", model.channel_tile) +
         define("ALL_BYTES", all_bytes ? 1 : 0) +
         define("EPSILON", literal(static_cast<float>(model.config.rms_norm_eps))) +
         define("HAS_ATTENTION", model.has_attention() ? 1 : 0) +
         define("INT8_ATTENTION", model.has_int8_attention ? 1 : 0);
}

std::string rope_data(const CModel& model) {
  const std::vector<float> turns = rope_turns(model);
  const int64_t segments = segments_of(model);
  const int64_t head = model::head_width(model.config);
  std::string text = define("ROPE_SEGMENTS", segments) + define("HEAD_WIDTH", head) +
                     define("HEADS", model.config.num_heads) +
                     define("SCORE_SCALE", literal(1.0f / std::sqrt(static_cast<float>(head))));
  if (segments == 0) return text;
  return text + define("ROPE_HALF", head / segments / 2) + array("reasoner_rope", turns);
}

std::string model_data(const CModel& model, const store::PackedModel& packed) {
  const model::ModelConfig& config = model.config;
  std::string text;
  for (const Table& table : tables(model))
    text += table_text(table, packed.tensors.at(table.tensor).values);
  text += array("halt_bias", packed.tensors.at("q_head.bias").values) + blocks_text(model) +
          networks_text(model);
  const auto head = [&](const std::vector<CLinear>& heads, const std::string& name) {
    if (heads.empty()) return std::string();
    return definitions(heads[0], "reasoner_" + name) + "static const linear " + name + " = " +
           initializer(heads[0], "reasoner_" + name) + ";\n";
  };
  text += head(model.logits_head, "logits_head") + head(model.halt_head, "halt_head");
  auto scale = std::sqrt(static_cast<float>(config.hidden_size));
  if (config.positions == Positions::Learned) scale *= 0.707106781f;
  const model::Tying tying = model::architecture(config).tying;
  return text + scratch_macros(model) + define("INPUT_SCALE", literal(scale)) +
         define("PUZZLE_WIDTH", config.puzzle_emb_ndim) +
         define("LEARNED_POSITIONS", config.positions == Positions::Learned ? 1 : 0) +
         define("QUANTIZED_LOGITS", model.logits_head.empty() ? 0 : 1) +
         define("QUANTIZED_HALT", model.halt_head.empty() ? 0 : 1) +
         define("H_CYCLES", config.h_cycles) + define("L_CYCLES", config.l_cycles) +
         define("L_NETWORK(cycle)",
                tying == model::Tying::ByCycle ? "(cycle)" : "((void)(cycle), 0u)") +
         define("H_NETWORK", std::ssize(model.network_first) - 2);
}

int64_t table_bytes(const CModel& model, const store::PackedModel& packed) {
  int64_t bytes = 4 * std::ssize(packed.tensors.at("q_head.bias").values);
  for (const Table& table : tables(model)) {
    const std::vector<float>& values = packed.tensors.at(table.tensor).values;
    bytes += std::ssize(values) * (is_bfloat16(values) ? 2 : 4);
  }
  return bytes + (model.has_attention() ? 4 * std::ssize(rope_turns(model)) : 0);
}

}  // namespace driftless::exporter
