// SPDX-License-Identifier: Apache-2.0
// Blocks: SwiGLU over channels or positions, attention with rotary positions, residual and norm.
#include <cmath>

#include "driftless/export/onnx/layers.h"
#include "driftless/model/shapes.h"

namespace driftless::exporter {
namespace {

using model::Positions;

/// (a + b) over the root of its mean square along the last axis, of `width` values. The last
/// factor is one: with it runtimes know the nodes as one norm.
Value add_norm(const OnnxBuilder& to, const Value& a, const Value& b, int64_t width) {
  OnnxGraph& graph = to.graph;
  const Value sum = graph.node("Add", {a, b});
  const Value squares = graph.node("Pow", {sum, to.constants.scalar("two", 2.0f)});
  const Value mean = graph.node("ReduceMean", {squares}, {attribute("axes", Dims{-1})});
  const auto eps = static_cast<float>(to.model.config.rms_norm_eps);
  const Value root =
      graph.node("Sqrt", {graph.node("Add", {mean, to.constants.scalar("rms_norm_eps", eps)})});
  const std::vector<float> ones(static_cast<size_t>(width), 1.0f);
  return graph.node("Mul", {graph.node("Div", {sum, root}),
                            to.constants.floats("ones." + std::to_string(width), {width}, ones)});
}

Value add_swiglu(const OnnxBuilder& to, const Value& input, const std::string& prefix) {
  OnnxGraph& graph = to.graph;
  const Value both = add_linear(to, input, prefix + ".gate_up_proj.weight");
  const auto halves = graph.nodes("Split", {both}, 2, {attribute("axis", int64_t{-1})});
  const Value gate = graph.node("Mul", {halves[0], graph.node("Sigmoid", {halves[0]})});
  return add_linear(to, graph.node("Mul", {gate, halves[1]}), prefix + ".down_proj.weight");
}

Value transpose(const OnnxBuilder& to, const Value& value, const Dims& order) {
  return to.graph.node("Transpose", {value}, {attribute("perm", order)});
}

Value add_token_mixer(const OnnxBuilder& to, const Value& state, const std::string& prefix) {
  const Value turned = transpose(to, state, {0, 2, 1});
  const Value mixed = add_swiglu(to, turned, prefix);
  const int64_t positions = model::positions_count(to.model.config);
  return transpose(to, add_norm(to, turned, mixed, positions), {0, 2, 1});
}

/// What loop::Rope does to a head, as x * cos + x[other] * sin: cos and sin are [T, head width],
/// the latter with the sign of its product, and `other` is the value that turns together with each.
struct RopeTables {
  std::vector<float> cos, sin;
  std::vector<int64_t> other;
};

RopeTables rope_tables(const model::ModelConfig& config) {
  const int64_t segments = config.positions == Positions::Rope ? 1 : 2;
  const int64_t half = model::head_width(config) / segments / 2;
  RopeTables out;
  for (int64_t row = 0; row < model::positions_count(config); ++row)
    for (int64_t segment = 0; segment < segments; ++segment)
      for (int64_t i = 0; i < 2 * half; ++i) {
        const double frequency =
            std::pow(config.rope_theta, -static_cast<double>(i % half) / static_cast<double>(half));
        const int64_t place = segments == 1  ? row
                              : segment == 0 ? row / config.board_width
                                             : row % config.board_width;
        const double angle = static_cast<double>(place) * frequency;
        out.cos.push_back(static_cast<float>(std::cos(angle)));
        out.sin.push_back(static_cast<float>(i < half ? -std::sin(angle) : std::sin(angle)));
        if (row == 0) out.other.push_back(segment * 2 * half + (i + half) % (2 * half));
      }
  return out;
}

/// heads [batch, heads, T, width]
Value add_rope(const OnnxBuilder& to, const Value& heads) {
  const model::ModelConfig& config = to.model.config;
  if (config.positions != Positions::Rope && config.positions != Positions::Rope2d) return heads;
  if (!to.constants.has("rope.cos")) {
    const RopeTables tables = rope_tables(config);
    const Dims dims = {model::positions_count(config), model::head_width(config)};
    to.constants.floats("rope.cos", dims, tables.cos);
    to.constants.floats("rope.sin", dims, tables.sin);
    to.constants.ints("rope.other", tables.other);
  }
  OnnxGraph& graph = to.graph;
  const Value other = graph.node("Gather", {heads, "rope.other"}, {attribute("axis", int64_t{-1})});
  return graph.node(
      "Add", {graph.node("Mul", {heads, "rope.cos"}), graph.node("Mul", {other, "rope.sin"})});
}

Value add_attention(const OnnxBuilder& to, const Value& state, const std::string& prefix) {
  const model::ModelConfig& config = to.model.config;
  OnnxGraph& graph = to.graph;
  const int64_t positions = model::positions_count(config);
  const int64_t heads = config.num_heads;
  const int64_t width = model::head_width(config);
  const Value qkv = add_linear(to, state, prefix + ".qkv_proj.weight");
  const Value shape = to.constants.ints("attention.heads", Dims{-1, positions, 3 * heads, width});
  const Value all = transpose(to, graph.node("Reshape", {qkv, shape}), {0, 2, 1, 3});
  const auto parts =
      graph.nodes("Split", {all, to.constants.ints("attention.split", Dims{2 * heads, heads})}, 2,
                  {attribute("axis", int64_t{1})});
  const auto turned =
      graph.nodes("Split", {add_rope(to, parts[0])}, 2, {attribute("axis", int64_t{1})});
  const Value scores = graph.node("MatMul", {turned[0], transpose(to, turned[1], {0, 1, 3, 2})});
  const Value scale =
      to.constants.scalar("attention.scale", 1.0f / std::sqrt(static_cast<float>(width)));
  const Value shares =
      graph.node("Softmax", {graph.node("Mul", {scores, scale})}, {attribute("axis", int64_t{-1})});
  const Value values = transpose(to, graph.node("MatMul", {shares, parts[1]}), {0, 2, 1, 3});
  const Value rows = to.constants.ints("attention.rows", Dims{-1, positions, config.hidden_size});
  const Value mixed =
      add_linear(to, graph.node("Reshape", {values, rows}), prefix + ".o_proj.weight");
  return add_norm(to, state, mixed, config.hidden_size);
}

}  // namespace

Value add_block(const OnnxBuilder& to, const Value& state, const std::string& prefix) {
  const bool has_tokens = to.model.config.mixer == model::Mixer::Tokens;
  const Value mixed = has_tokens ? add_token_mixer(to, state, prefix + ".mlp_t")
                                 : add_attention(to, state, prefix + ".self_attn");
  return add_norm(to, mixed, add_swiglu(to, mixed, prefix + ".mlp"), to.model.config.hidden_size);
}

}  // namespace driftless::exporter
