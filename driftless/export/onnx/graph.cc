// SPDX-License-Identifier: Apache-2.0
#include "driftless/export/onnx/graph.h"

#include <bit>

namespace driftless::exporter {
namespace {

static_assert(std::endian::native == std::endian::little, "raw_data is little-endian");

/// AttributeProto.AttributeType.
enum class AttributeType : int64_t { Float = 1, Int = 2, Graph = 5, Ints = 7 };

template <class T>
std::string_view raw(std::span<const T> values) {
  return {reinterpret_cast<const char*>(values.data()), values.size_bytes()};
}

WireMessage attribute_of(std::string_view name, AttributeType type) {
  WireMessage message;
  message.add_bytes(1, name);
  message.add_int(20, static_cast<int64_t>(type));
  return message;
}

/// ValueInfoProto of a tensor.
WireMessage value_info(const std::string& name, const ValueType& type) {
  WireMessage shape;
  for (const int64_t extent : type.dims) {
    WireMessage dim;
    if (extent == kBatch)
      dim.add_bytes(2, "batch");
    else
      dim.add_int(1, extent);
    shape.add_message(1, dim);
  }
  WireMessage tensor;
  tensor.add_int(1, static_cast<int64_t>(type.type));
  tensor.add_message(2, shape);
  WireMessage any;
  any.add_message(1, tensor);
  WireMessage info;
  info.add_bytes(1, name);
  info.add_message(2, any);
  return info;
}

}  // namespace

Value OnnxConstants::add(const std::string& name, OnnxType type, const Dims& dims,
                         std::string_view raw) {
  if (!names_.insert(name).second) return name;
  WireMessage tensor;
  for (const int64_t extent : dims) tensor.add_int(1, extent);
  tensor.add_int(2, static_cast<int64_t>(type));
  tensor.add_bytes(8, name);
  tensor.add_bytes(9, raw);
  tensors_.push_back(std::move(tensor));
  return name;
}

Value OnnxConstants::floats(const std::string& name, const Dims& dims,
                            std::span<const float> values) {
  return add(name, OnnxType::Float, dims, raw(values));
}

Value OnnxConstants::codes(const std::string& name, OnnxType type, const Dims& dims,
                           std::span<const uint8_t> bytes) {
  return add(name, type, dims, raw(bytes));
}

Value OnnxConstants::ints(const std::string& name, std::span<const int64_t> values) {
  return add(name, OnnxType::Int64, {std::ssize(values)}, raw(values));
}

Value OnnxConstants::scalar(const std::string& name, int64_t value) {
  return add(name, OnnxType::Int64, {}, raw(std::span<const int64_t>(&value, 1)));
}

Value OnnxConstants::scalar(const std::string& name, int32_t value) {
  return add(name, OnnxType::Int32, {}, raw(std::span<const int32_t>(&value, 1)));
}

Value OnnxConstants::scalar(const std::string& name, bool value) {
  return add(name, OnnxType::Bool, {}, std::string_view(value ? "\1" : "\0", 1));
}

WireMessage attribute(std::string_view name, int64_t value) {
  WireMessage message = attribute_of(name, AttributeType::Int);
  message.add_int(3, value);
  return message;
}

WireMessage attribute(std::string_view name, float value) {
  WireMessage message = attribute_of(name, AttributeType::Float);
  message.add_float(2, value);
  return message;
}

WireMessage attribute(std::string_view name, const Dims& values) {
  WireMessage message = attribute_of(name, AttributeType::Ints);
  for (const int64_t value : values) message.add_int(8, value);
  return message;
}

WireMessage graph_attribute(std::string_view name, const WireMessage& graph) {
  WireMessage message = attribute_of(name, AttributeType::Graph);
  message.add_message(6, graph);
  return message;
}

Value OnnxGraph::input(const std::string& name, const ValueType& type) {
  inputs_.push_back(value_info(name, type));
  return name;
}

void OnnxGraph::output(const std::string& name, const ValueType& type, const Value& value) {
  outputs_.push_back(value_info(name, type));
  WireMessage node;
  node.add_bytes(1, value);
  node.add_bytes(2, name);
  node.add_bytes(3, "output/" + name);
  node.add_bytes(4, "Identity");
  nodes_.push_back(std::move(node));
}

Value OnnxGraph::node(std::string_view op, const std::vector<Value>& inputs, Attributes attributes,
                      std::string_view domain) {
  return nodes(op, inputs, 1, attributes, domain).front();
}

std::vector<Value> OnnxGraph::nodes(std::string_view op, const std::vector<Value>& inputs,
                                    int64_t outputs, Attributes attributes,
                                    std::string_view domain) {
  const std::string name = prefix_ + part_ + "/" + std::string(op) + "." + std::to_string(count_++);
  std::vector<Value> values;
  WireMessage node;
  for (const Value& input : inputs) node.add_bytes(1, input);
  for (int64_t i = 0; i < outputs; ++i) {
    values.push_back(outputs == 1 ? name : name + ":" + std::to_string(i));
    node.add_bytes(2, values.back());
  }
  node.add_bytes(3, name);
  node.add_bytes(4, op);
  for (const WireMessage& attribute : attributes) node.add_message(5, attribute);
  if (!domain.empty()) node.add_bytes(7, domain);
  nodes_.push_back(std::move(node));
  return values;
}

WireMessage OnnxGraph::message(const OnnxConstants* constants) const {
  WireMessage graph;
  for (const WireMessage& node : nodes_) graph.add_message(1, node);
  graph.add_bytes(2, name_);
  if (constants != nullptr)
    for (const WireMessage& tensor : constants->tensors()) graph.add_message(5, tensor);
  for (const WireMessage& input : inputs_) graph.add_message(11, input);
  for (const WireMessage& output : outputs_) graph.add_message(12, output);
  return graph;
}

}  // namespace driftless::exporter
