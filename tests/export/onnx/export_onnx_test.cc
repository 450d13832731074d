// SPDX-License-Identifier: Apache-2.0
// What an exported file says, read back: the wire format, names, types and shapes, that every value
// comes from somewhere, and weights in each precision. That a runtime computes the same is
// runtime_test.mjs.
#include "driftless/export/onnx/export_onnx.h"

#include <bit>
#include <set>

#include <gtest/gtest.h>

#include "driftless/export/onnx/wire.h"
#include "driftless/model/schedule.h"
#include "driftless/model/shapes.h"
#include "driftless/quant/quantizer.h"

#include "tests/export/onnx/proto_reader.h"
#include "tests/export/small_models.h"
#include "tests/simulate/random_model.h"
#include "tests/testing/expect_error.h"

namespace driftless::exporter {
namespace {

using testing::config_named;
using testing::Proto;

constexpr int64_t kFloatType = 1;

store::Checkpoint model_named(const std::string& name) {
  return store::random_checkpoint(config_named(name), 3);
}

Proto graph_of(const Proto& model) { return model.messages(7).at(0); }

/// "tokens int32 [batch, 6]" and so on.
std::vector<std::string> values_of(const Proto& graph, uint64_t field) {
  const std::map<int64_t, std::string> types = {
      {1, "float"}, {6, "int32"}, {7, "int64"}, {9, "bool"}};
  std::vector<std::string> out;
  for (const Proto& value : graph.messages(field)) {
    const Proto tensor = value.messages(2).at(0).messages(1).at(0);
    std::string text = value.text(1) + " " + types.at(tensor.integer(1)) + " [";
    for (const Proto& dim : tensor.messages(2).at(0).messages(1))
      text += (text.back() == '[' ? "" : ", ") +
              (dim.text(2).empty() ? std::to_string(dim.integer(1)) : dim.text(2));
    out.push_back(text + "]");
  }
  return out;
}

std::map<std::string, Proto> constants_of(const Proto& graph) {
  std::map<std::string, Proto> out;
  for (const Proto& tensor : graph.messages(5)) out.emplace(tensor.text(8), tensor);
  return out;
}

int64_t count_ops(const Proto& graph, const std::string& op) {
  int64_t count = 0;
  for (const Proto& node : graph.messages(1)) count += node.text(4) == op ? 1 : 0;
  return count;
}

int64_t attribute_of(const Proto& node, const std::string& name) {
  for (const Proto& attribute : node.messages(5))
    if (attribute.text(1) == name) return attribute.integer(3);
  return -1;
}

Proto body_of(const Proto& graph) {
  for (const Proto& node : graph.messages(1))
    if (node.text(4) == "Loop") return node.messages(5).at(0).messages(6).at(0);
  throw std::runtime_error("no loop");
}

/// Every input of a node is there before it, and nothing has two makers.
void expect_connected(const Proto& graph, std::set<std::string> known) {
  const auto define = [&](const std::string& name) {
    EXPECT_FALSE(name.empty());
    EXPECT_TRUE(known.insert(name).second) << name << " is defined twice";
  };
  for (const auto& [name, tensor] : constants_of(graph)) define(name);
  for (const Proto& input : graph.messages(11)) define(input.text(1));
  for (const Proto& node : graph.messages(1)) {
    for (const std::string& input : node.texts(1))
      EXPECT_TRUE(known.contains(input)) << node.text(3) << " takes the unknown " << input;
    for (const Proto& attribute : node.messages(5))
      for (const Proto& body : attribute.messages(6)) expect_connected(body, known);
    for (const std::string& output : node.texts(2)) define(output);
  }
  for (const Proto& output : graph.messages(12)) EXPECT_TRUE(known.contains(output.text(1)));
}

/// The bytes of a constant are as many as its shape says.
void expect_whole(const std::string& name, const Proto& tensor) {
  const std::map<int64_t, size_t> sizes = {{1, 4}, {2, 1}, {3, 1}, {6, 4}, {7, 8}, {9, 1}};
  size_t bytes = sizes.at(tensor.integer(2));
  for (const int64_t extent : tensor.ints(1)) bytes *= static_cast<size_t>(extent);
  EXPECT_EQ(tensor.text(9).size(), bytes) << name;
}

int64_t block_calls(const model::ModelConfig& config) {
  const auto networks = model::networks(config);
  int64_t calls = 0;
  for (const model::NetworkCall& call : model::schedule(config))
    calls += networks[static_cast<size_t>(call.network)].num_layers;
  return calls;
}

TEST(OnnxWire, WritesWhatTheFormatSays) {
  WireMessage message;
  message.add_int(1, 300);
  message.add_int(2, -1);
  message.add_bytes(16, "ab");
  message.add_float(3, 1.0f);
  EXPECT_EQ(message.bytes(), std::string("\x08\xac\x02"
                                         "\x10\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"
                                         "\x82\x01\x02"
                                         "ab"
                                         "\x1d\x00\x00\x80\x3f",
                                         24));
  const Proto back(message.bytes());
  EXPECT_EQ(back.integer(1), 300);
  EXPECT_EQ(back.integer(2), -1);
  EXPECT_EQ(back.text(16), "ab");
  EXPECT_EQ(back.integer(3), std::bit_cast<int32_t>(1.0f));
}

TEST(OnnxExport, EveryModelInEveryPrecisionIsConnected) {
  for (const auto& named : simulate::testing::named_configs())
    for (const auto& precision : kOnnxPrecisionNames)
      for (const OnnxScope scope : {OnnxScope::Step, OnnxScope::Solve}) {
        SCOPED_TRACE(named.name + ", " + std::string(precision.name));
        const OnnxExport made = export_onnx(store::random_checkpoint(named.config, 3),
                                            {.precision = precision.value, .scope = scope});
        const Proto graph = graph_of(Proto(made.bytes));
        expect_connected(graph, {});
        for (const auto& [name, tensor] : constants_of(graph)) expect_whole(name, tensor);
        int64_t nodes = std::ssize(graph.messages(1));
        if (scope == OnnxScope::Solve) nodes += std::ssize(body_of(graph).messages(1));
        EXPECT_EQ(made.nodes, nodes);
      }
}

TEST(OnnxExport, SaysItsVersionsAndConfiguration) {
  const std::string bytes = export_onnx(model_named("TrmTokens"), {}).bytes;
  const Proto model(bytes);
  EXPECT_EQ(model.integer(1), 8);
  EXPECT_EQ(model.text(2), "driftless");
  ASSERT_EQ(model.messages(8).size(), 1u);
  EXPECT_EQ(model.messages(8)[0].text(1), "");
  EXPECT_EQ(model.messages(8)[0].integer(2), 17);
  ASSERT_EQ(model.messages(14).size(), 2u);
  EXPECT_EQ(model.messages(14)[0].text(1), "config");
  EXPECT_NE(model.messages(14)[0].text(2).find("\"arch\""), std::string::npos);
  EXPECT_EQ(model.messages(14)[1].text(2), "float32");
  const std::string int4 =
      export_onnx(model_named("TrmTokens"), {.precision = OnnxPrecision::Int4}).bytes;
  ASSERT_EQ(Proto(int4).messages(8).size(), 2u);
  EXPECT_EQ(Proto(int4).messages(8)[1].text(1), "com.microsoft");
}

TEST(OnnxExport, AStepTakesStatesAndGivesStates) {
  const std::string bytes = export_onnx(model_named("TrmAttentionRopePrefix"), {}).bytes;
  const Proto graph = graph_of(Proto(bytes));
  EXPECT_EQ(values_of(graph, 11),
            (std::vector<std::string>{"tokens int32 [batch, 97]", "puzzle int32 [batch]",
                                      "z_h float [batch, 100, 24]", "z_l float [batch, 100, 24]",
                                      "is_new bool [batch]"}));
  EXPECT_EQ(values_of(graph, 12),
            (std::vector<std::string>{
                "z_h_next float [batch, 100, 24]", "z_l_next float [batch, 100, 24]",
                "logits float [batch, 97, 7]", "halt_logits float [batch, 2]"}));
}

TEST(OnnxExport, ASolveTakesBoardsAlone) {
  const std::string bytes =
      export_onnx(model_named("TrmTokens"), {.scope = OnnxScope::Solve, .steps = 5}).bytes;
  const Proto graph = graph_of(Proto(bytes));
  EXPECT_EQ(values_of(graph, 11), (std::vector<std::string>{"tokens int32 [batch, 6]"}));
  EXPECT_EQ(
      values_of(graph, 12),
      (std::vector<std::string>{"answer int32 [batch, 6]", "steps int32 [batch]",
                                "logits float [batch, 6, 7]", "halt_logits float [batch, 2]",
                                "z_h_next float [batch, 6, 24]", "z_l_next float [batch, 6, 24]"}));
  EXPECT_EQ(constants_of(graph).at("most_steps").text(9), std::string("\5\0\0\0\0\0\0\0", 8));
  EXPECT_EQ(values_of(body_of(graph), 11).size(), 2u + 7u);
  EXPECT_EQ(values_of(body_of(graph), 12).size(), 1u + 7u);
}

TEST(OnnxExport, WhatIsDrawnIsAnInputOrANode) {
  const store::Checkpoint eqr = model_named("EqrTokens");
  const std::string step = export_onnx(eqr, {}).bytes;
  EXPECT_EQ(values_of(graph_of(Proto(step)), 11).size(), 3u) << "no is_new";
  const int64_t calls = std::ssize(model::schedule(eqr.config));
  EXPECT_EQ(count_ops(graph_of(Proto(step)), "RandomNormalLike"), calls);
  const std::string solve = export_onnx(eqr, {.scope = OnnxScope::Solve}).bytes;
  EXPECT_EQ(values_of(graph_of(Proto(solve)), 11).size(), 3u);
  const store::Checkpoint stochastic = model_named("TrmStochasticTokens");
  const std::string noisy = export_onnx(stochastic, {}).bytes;
  EXPECT_EQ(count_ops(graph_of(Proto(noisy)), "RandomNormalLike"), stochastic.config.h_cycles);
}

TEST(OnnxExport, Int8RoundsEveryInputAndKeepsEachWeightOnce) {
  const store::Checkpoint model = model_named("TrmTokens");
  const std::string bytes = export_onnx(model, {.precision = OnnxPrecision::Int8}).bytes;
  const Proto graph = graph_of(Proto(bytes));
  const int64_t layers = 4 * block_calls(model.config);
  EXPECT_EQ(count_ops(graph, "DynamicQuantizeLinear"), layers);
  EXPECT_EQ(count_ops(graph, "MatMulInteger"), layers);
  EXPECT_EQ(count_ops(graph, "MatMul"), 2) << "the heads";
  const auto constants = constants_of(graph);
  const std::string name = "L_level.layers.1.mlp.down_proj.weight";
  const store::Tensor& weight = model.tensors.at(name);
  const Proto& codes = constants.at(name + ".codes");
  EXPECT_EQ(codes.ints(1), (std::vector<int64_t>{weight.shape[1], weight.shape[0]}));
  std::vector<float> scales(static_cast<size_t>(weight.shape[0]));
  std::memcpy(scales.data(), constants.at(name + ".scales").text(9).data(), scales.size() * 4);
  const std::string raw = codes.text(9);
  for (int64_t row = 0; row < weight.shape[0]; ++row)
    for (int64_t i = 0; i < weight.shape[1]; ++i) {
      const float scale = scales[static_cast<size_t>(row)];
      const auto code =
          static_cast<signed char>(raw[static_cast<size_t>(i * weight.shape[0] + row)]);
      const float value = weight.values[static_cast<size_t>(row * weight.shape[1] + i)];
      // Half a step, and the rounding of the quotient.
      EXPECT_LE(std::abs(value - scale * static_cast<float>(code)), 0.5001f * scale);
    }
}

TEST(OnnxExport, Int4WeightsAreThoseOfTheQuantizer) {
  const store::Checkpoint model = model_named("TrmTokens");
  const std::string bytes = export_onnx(model, {.precision = OnnxPrecision::Int4}).bytes;
  const Proto graph = graph_of(Proto(bytes));
  EXPECT_EQ(count_ops(graph, "MatMulNBits"), 4 * block_calls(model.config));
  for (const Proto& node : graph.messages(1)) {
    if (node.text(4) != "MatMulNBits") continue;
    EXPECT_EQ(node.text(7), "com.microsoft");
    const std::string name = node.texts(1).at(1).substr(0, node.texts(1).at(1).rfind('.'));
    const store::Tensor& weight = model.tensors.at(name);
    const int64_t length = weight.shape[1];
    EXPECT_EQ(attribute_of(node, "N"), weight.shape[0]);
    EXPECT_EQ(attribute_of(node, "K"), length);
    EXPECT_EQ(attribute_of(node, "bits"), 4);
    EXPECT_EQ(attribute_of(node, "block_size"), 32);
    std::vector<float> expected(weight.values.size());
    quant::Quantizer(quant::parse_quant_spec("int4/group32"))
        .fake_quantize({weight.values.data(), weight.shape[0], length},
                       {expected.data(), weight.shape[0], length});
    const auto constants = constants_of(graph);
    const std::string codes = constants.at(name + ".codes").text(9);
    const std::string scales = constants.at(name + ".scales").text(9);
    const int64_t groups = (length + 31) / 32;
    for (int64_t at = 0; at < weight.shape[0] * groups * 32; ++at) {
      const int64_t row = at / (groups * 32);
      const int64_t i = at % (groups * 32);
      const auto byte = static_cast<unsigned char>(codes[static_cast<size_t>(at / 2)]);
      const int code = at % 2 == 0 ? byte & 15 : byte >> 4;
      float scale = 0;
      std::memcpy(&scale, scales.data() + 4 * (at / 32), 4);
      const float value = static_cast<float>(code - 8) * scale;
      ASSERT_EQ(value, i < length ? expected[static_cast<size_t>(row * length + i)] : 0.0f) << name;
    }
  }
}

TEST(OnnxExport, FloatWeightsAreTransposedAndUnchanged) {
  const store::Checkpoint model = model_named("HrmRope");
  const std::string bytes = export_onnx(model, {}).bytes;
  const auto constants = constants_of(graph_of(Proto(bytes)));
  const std::string name = "H_level.layers.2.self_attn.qkv_proj.weight";
  const store::Tensor& weight = model.tensors.at(name);
  const Proto& tensor = constants.at(name + ".transposed");
  EXPECT_EQ(tensor.integer(2), kFloatType);
  EXPECT_EQ(tensor.ints(1), (std::vector<int64_t>{weight.shape[1], weight.shape[0]}));
  std::vector<float> values(weight.values.size());
  std::memcpy(values.data(), tensor.text(9).data(), values.size() * 4);
  for (int64_t row = 0; row < weight.shape[0]; ++row)
    for (int64_t i = 0; i < weight.shape[1]; ++i)
      ASSERT_EQ(values[static_cast<size_t>(i * weight.shape[0] + row)],
                weight.values[static_cast<size_t>(row * weight.shape[1] + i)]);
}

TEST(OnnxExport, RefusesWrongSteps) {
  const store::Checkpoint model = model_named("TrmTokens");
  EXPECT_ERROR((void)export_onnx(model, {.steps = 4}), ErrorCode::InvalidArgument,
               "expected a whole solve");
  EXPECT_ERROR((void)export_onnx(model, {.scope = OnnxScope::Solve, .steps = -1}),
               ErrorCode::InvalidArgument, "got -1");
}

}  // namespace
}  // namespace driftless::exporter
