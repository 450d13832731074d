// SPDX-License-Identifier: Apache-2.0
#include "driftless/export/c_plan.h"

#include <algorithm>
#include <utility>

#include "driftless/model/schedule.h"
#include "driftless/model/shapes.h"

namespace driftless::exporter {
namespace {

Field floats(std::string name, int64_t count) { return {"float", std::move(name), count, 4}; }
Field codes(std::string name, int64_t count) {
  return {"reasoner_code", std::move(name), count, 0, Field::Of::Codes};
}
Field signed_bytes(std::string name, int64_t count) {
  return {"int8_t", std::move(name), count, 1};
}
Field bytes(std::string name, int64_t count) { return {"uint8_t", std::move(name), count, 1}; }
Field work(int64_t blocks) { return {"int32_t", "work", 2 * blocks, 0, Field::Of::Places}; }

Stage swiglu_stage(const char* name, const CLinear& gate_up, const CLinear& down, int64_t tile,
                   bool has_row_scales) {
  const int64_t input = blocks_of(gate_up.inputs);
  const int64_t hidden = blocks_of(down.inputs);
  Stage stage{name, {floats("gate", tile * kBlock), floats("up", tile * kBlock)}};
  if (has_row_scales) stage.fields.push_back(floats("floats", tile * down.inputs));
  for (const Field& field :
       {floats("input_scales", tile), floats("hidden_scales", tile), work(std::max(input, hidden)),
        codes("input", tile * input * kBlock), codes("hidden", tile * hidden * kBlock),
        bytes("input_shifts", tile * input), bytes("hidden_shifts", tile * hidden)})
    stage.fields.push_back(field);
  return stage;
}

Stage attention_stage(const CModel& model) {
  const int64_t rows = model::positions_count(model.config);
  const int64_t width = model.config.hidden_size;
  const int64_t head = model::head_width(model.config);
  const int64_t tile = model.position_tile;
  const bool is_int8 = model.has_int8_attention;
  Stage stage{"positions",
              {floats("attended", rows * width), floats("keys", (is_int8 ? tile : rows) * head),
               floats("values", rows * head), floats("queries", tile * head),
               floats("scores", rows), floats("input_scales", tile)}};
  if (is_int8)
    for (const Field& field : {floats("key_scales", rows), floats("value_scales", head)})
      stage.fields.push_back(field);
  stage.fields.push_back(work(blocks_of(width)));
  stage.fields.push_back(codes("input", tile * blocks_of(width) * kBlock));
  if (is_int8)
    for (const Field& field : {signed_bytes("key_codes", rows * head),
                               signed_bytes("value_codes", head * rows), bytes("shares", rows)})
      stage.fields.push_back(field);
  stage.fields.push_back(bytes("input_shifts", tile * blocks_of(width)));
  return stage;
}

int64_t up_to_4(int64_t count) { return (count + 3) / 4 * 4; }

int64_t stage_bytes(const Stage& stage, const Workspace& kernels) {
  int64_t sum = 0;
  for (const Field& field : stage.fields) sum += field.bytes(kernels);
  return sum;
}

/// Of attention in int8, values as floats are over when queries, scores and shares begin.
int64_t least_of(const CModel& model, const Stage& stage, const Workspace& kernels) {
  const int64_t all = stage_bytes(stage, kernels);
  if (!model.has_int8_attention || stage.name != "positions") return all;
  int64_t later = 0, values = 0;
  for (const Field& field : stage.fields) {
    if (field.name == "queries" || field.name == "scores" || field.name == "shares")
      later += field.bytes(kernels);
    if (field.name == "values" || field.name == "keys") values += field.bytes(kernels);
  }
  return all - std::min(later, values);
}

int64_t fixed_bytes(const CModel& model) {
  constexpr int64_t kOthers = 12;  // three words beside the states
  return 8 * model::positions_count(model.config) * model.config.hidden_size + kOthers;
}

std::string field_text(const Field& field) {
  return field.type + " " + field.name + "[" + std::to_string(field.count) +
         (field.of == Field::Of::Places ? " * REASONER_PLACE / 4" : "") + "];";
}

}  // namespace

std::vector<Stage> stages(const CModel& model) {
  const auto& blocks = model.blocks;
  const auto has_row_scales = [&](auto member) {
    return std::any_of(blocks.begin(), blocks.end(), [&](const CBlock& block) {
      return (block.*member).acts.granularity != quant::Granularity::Block;
    });
  };
  std::vector<Stage> out;
  if (model.has_attention())
    out.push_back(attention_stage(model));
  else
    out.push_back(swiglu_stage("positions", blocks[0].first, blocks[0].second, model.channel_tile,
                               has_row_scales(&CBlock::second)));
  out.push_back(swiglu_stage("channels", blocks[0].gate_up, blocks[0].down, model.position_tile,
                             has_row_scales(&CBlock::down)));
  if (!model.logits_head.empty() || !model.halt_head.empty()) {
    const int64_t input = blocks_of(model.config.hidden_size);
    out.push_back({"head",
                   {floats("scales", 1), work(input), codes("codes", input * kBlock),
                    bytes("shifts", input)}});
  }
  return out;
}

int64_t arena_bytes(const CModel& model, const Workspace& kernels) {
  int64_t most = 0;
  for (const Stage& stage : stages(model)) most = std::max(most, stage_bytes(stage, kernels));
  return fixed_bytes(model) + up_to_4(most) + up_to_4(model.config.seq_len + 1);
}

int64_t least_bytes(const CModel& model, const Workspace& kernels) {
  int64_t most = 0;
  for (const Stage& stage : stages(model)) most = std::max(most, least_of(model, stage, kernels));
  return fixed_bytes(model) + most + model.config.seq_len + 1;
}

std::string arena_text(const CModel& model) {
  std::string text = "/* sizeof(reasoner), and what the schedule needs at once. */\n";
  for (const auto& [condition, kernels] :
       {std::pair{"#if REASONER_KERNELS == REASONER_KERNELS_C\n", kPlainC},
        std::pair{"#elif REASONER_KERNELS == REASONER_KERNELS_DSP\n", kDsp},
        std::pair{"#else\n", kVector}})
    text += condition +
            ("#define REASONER_ARENA_BYTES " + std::to_string(arena_bytes(model, kernels))) +
            "\n#define REASONER_LEAST_BYTES " + std::to_string(least_bytes(model, kernels)) + "\n";
  text +=
      "#endif\n\n"
      "/* Only z_h and z_l, [positions][width], and halt (halt, continue) are for others to read. "
      "*/\n"
      "typedef struct {\n"
      "  float z_h[REASONER_POSITIONS * REASONER_WIDTH];\n"
      "  float z_l[REASONER_POSITIONS * REASONER_WIDTH];\n"
      "  float halt[2];\n"
      "  uint32_t puzzle;\n"
      "  union {\n";
  for (const Stage& stage : stages(model)) {
    text += "    struct {\n";
    for (const Field& field : stage.fields) text += "      " + field_text(field) + "\n";
    text += "    } " + stage.name + ";\n";
  }
  return text +
         "  } scratch;\n"
         "  uint8_t tokens[REASONER_CELLS];\n"
         "  uint8_t phase;\n"
         "} reasoner;\n";
}

int64_t multiply_adds(const CModel& model) {
  const model::ModelConfig& config = model.config;
  const int64_t rows = model::positions_count(config);
  const int64_t width = config.hidden_size;
  const auto size = [](const CLinear& layer) { return layer.outputs * layer.inputs; };
  int64_t sum = 0;
  for (const model::NetworkCall& call : model::schedule(config)) {
    const auto network = static_cast<size_t>(call.network);
    for (int64_t i = model.network_first[network]; i < model.network_first[network + 1]; ++i) {
      const CBlock& block = model.blocks[static_cast<size_t>(i)];
      const int64_t mixed = size(block.first) + size(block.second);
      sum += model.has_attention() ? rows * mixed + 2 * rows * rows * width : width * mixed;
      sum += rows * (size(block.gate_up) + size(block.down));
    }
  }
  return sum + 2 * width;
}

}  // namespace driftless::exporter
