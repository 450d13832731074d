// SPDX-License-Identifier: Apache-2.0
#include "driftless/export/onnx/export_onnx.h"

#include <limits>

#include "driftless/base/error.h"
#include "driftless/export/onnx/recursion.h"
#include "driftless/model/config_json.h"

namespace driftless::exporter {
namespace {

constexpr int64_t kIrVersion = 8;
constexpr int64_t kOpset = 17;  // the first that ONNX Runtime 1.12 of 2022 knows
constexpr int64_t kMostSteps = 1 << 20;
constexpr size_t kMostBytes = std::numeric_limits<int32_t>::max();

WireMessage opset(std::string_view domain, int64_t version) {
  WireMessage message;
  message.add_bytes(1, domain);
  message.add_int(2, version);
  return message;
}

WireMessage property(std::string_view key, std::string_view value) {
  WireMessage message;
  message.add_bytes(1, key);
  message.add_bytes(2, value);
  return message;
}

int64_t steps_of(const OnnxOptions& options, const model::ModelConfig& config) {
  DRIFTLESS_REQUIRE(options.scope == OnnxScope::Solve || options.steps == 0,
                    ErrorCode::InvalidArgument, "export onnx: steps; got ", options.steps,
                    " for a single step, expected a whole solve");
  DRIFTLESS_REQUIRE(options.steps >= 0 && options.steps <= kMostSteps, ErrorCode::InvalidArgument,
                    "export onnx: steps; got ", options.steps, ", expected 1 to ", kMostSteps);
  return options.steps == 0 ? config.halt_max_steps : options.steps;
}

}  // namespace

OnnxExport export_onnx(const store::Checkpoint& checkpoint, const OnnxOptions& options) {
  const bool is_solve = options.scope == OnnxScope::Solve;
  const int64_t steps = steps_of(options, checkpoint.config);
  OnnxGraph graph(is_solve ? "solve" : "step");
  OnnxConstants constants;
  const OnnxBuilder to{graph, constants, checkpoint, options.precision};
  OnnxExport out;
  if (is_solve)
    out.nodes = add_solve_graph(to, steps);
  else
    add_step_graph(to);
  out.nodes += graph.node_count();
  for (const WireMessage& tensor : constants.tensors())
    out.constant_bytes += std::ssize(tensor.bytes());
  DRIFTLESS_REQUIRE(static_cast<size_t>(out.constant_bytes) < kMostBytes, ErrorCode::Unsupported,
                    "export onnx: the constants take ", out.constant_bytes,
                    " bytes, expected less than 2 GiB, which is the most an ONNX file can have");
  WireMessage model;
  model.add_int(1, kIrVersion);
  model.add_bytes(2, "driftless");
  model.add_message(7, graph.message(&constants));
  model.add_message(8, opset("", kOpset));
  if (options.precision == OnnxPrecision::Int4) model.add_message(8, opset("com.microsoft", 1));
  model.add_message(14, property("config", model::config_to_json(checkpoint.config)));
  model.add_message(14, property("precision", enum_name(kOnnxPrecisionNames, options.precision)));
  DRIFTLESS_REQUIRE(model.bytes().size() < kMostBytes, ErrorCode::Unsupported,
                    "export onnx: the file takes ", model.bytes().size(),
                    " bytes, expected less than 2 GiB, which is the most an ONNX file can have");
  out.bytes = model.bytes();
  return out;
}

}  // namespace driftless::exporter
