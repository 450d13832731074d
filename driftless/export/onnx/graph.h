// SPDX-License-Identifier: Apache-2.0
// An ONNX graph as it is being written: constants, nodes, inputs and outputs. Field numbers are
// those of onnx.proto (https://github.com/onnx/onnx/blob/main/onnx/onnx.proto).
#pragma once

#include <cstdint>
#include <initializer_list>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "driftless/export/onnx/wire.h"

namespace driftless::exporter {

/// TensorProto.DataType.
enum class OnnxType : int64_t { Float = 1, UInt8 = 2, Int8 = 3, Int32 = 6, Int64 = 7, Bool = 9 };

/// The name of a value in a graph.
using Value = std::string;
using Dims = std::vector<int64_t>;

/// A dimension that a graph leaves open: how many boards there are.
inline constexpr int64_t kBatch = -1;

struct ValueType {
  OnnxType type;
  Dims dims;  ///< kBatch: any number
};

/// The constants of a model, which all its graphs see.
class OnnxConstants {
 public:
  /// Each adds a constant unless that name is there, and returns the name.
  Value floats(const std::string& name, const Dims& dims, std::span<const float> values);
  Value codes(const std::string& name, OnnxType type, const Dims& dims,
              std::span<const uint8_t> bytes);
  Value ints(const std::string& name, std::span<const int64_t> values);
  Value scalar(const std::string& name, float value) { return floats(name, {}, {&value, 1}); }
  Value scalar(const std::string& name, int64_t value);
  Value scalar(const std::string& name, int32_t value);
  Value scalar(const std::string& name, bool value);

  [[nodiscard]] bool has(const std::string& name) const { return names_.contains(name); }
  [[nodiscard]] const std::vector<WireMessage>& tensors() const noexcept { return tensors_; }

 private:
  Value add(const std::string& name, OnnxType type, const Dims& dims, std::string_view raw);

  std::set<std::string> names_;
  std::vector<WireMessage> tensors_;
};

/// Attributes of a node.
WireMessage attribute(std::string_view name, int64_t value);
WireMessage attribute(std::string_view name, float value);
WireMessage attribute(std::string_view name, const Dims& values);
WireMessage graph_attribute(std::string_view name, const WireMessage& graph);

class OnnxGraph {
 public:
  /// `prefix` begins the names of all values that nodes make, which keeps those of a body apart
  /// from those of the graph around it.
  explicit OnnxGraph(std::string name, std::string prefix = "")
      : name_(std::move(name)), prefix_(std::move(prefix)) {}

  /// What the next nodes belong to, for their names.
  void enter(std::string part) { part_ = std::move(part); }

  Value input(const std::string& name, const ValueType& type);
  /// Gives a value the name of an output.
  void output(const std::string& name, const ValueType& type, const Value& value);

  using Attributes = std::initializer_list<WireMessage>;

  /// A node of one output.
  Value node(std::string_view op, const std::vector<Value>& inputs, Attributes attributes = {},
             std::string_view domain = "");
  /// A node of several.
  std::vector<Value> nodes(std::string_view op, const std::vector<Value>& inputs, int64_t outputs,
                           Attributes attributes = {}, std::string_view domain = "");

  [[nodiscard]] int64_t node_count() const noexcept { return std::ssize(nodes_); }

  /// GraphProto; with constants for the outermost graph.
  [[nodiscard]] WireMessage message(const OnnxConstants* constants = nullptr) const;

 private:
  std::string name_, prefix_, part_;
  int64_t count_ = 0;
  std::vector<WireMessage> nodes_, inputs_, outputs_;
};

}  // namespace driftless::exporter
