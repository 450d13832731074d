// SPDX-License-Identifier: Apache-2.0
// Linear layers in each precision.
#include <vector>

#include "driftless/export/onnx/layers.h"
#include "driftless/quant/packed.h"
#include "driftless/quant/quantizer.h"

namespace driftless::exporter {
namespace {

constexpr int64_t kGroup = 32;      // of weights that share a scale in MatMulNBits
constexpr uint8_t kNibbleZero = 8;  // the code of zero that MatMulNBits takes unless told
/// MatMulNBits may round its input to int8, which is its fastest way on a CPU.
constexpr int64_t kAccuracyLevel = 4;

struct Shape {
  int64_t outputs, inputs;
};

Shape shape_of(const store::Tensor& weight) { return {weight.shape[0], weight.shape[1]}; }

/// [rows, columns] to [columns, rows].
template <class T>
std::vector<T> transposed(const std::vector<T>& values, const Shape& shape) {
  std::vector<T> out(values.size());
  for (int64_t row = 0; row < shape.outputs; ++row)
    for (int64_t column = 0; column < shape.inputs; ++column)
      out[static_cast<size_t>(column * shape.outputs + row)] =
          values[static_cast<size_t>(row * shape.inputs + column)];
  return out;
}

quant::QuantizedMatrix quantized(const store::Tensor& weight, OnnxPrecision precision) {
  const auto [outputs, inputs] = shape_of(weight);
  return quant::Quantizer(quant::parse_quant_spec(onnx_quantizers(precision).weights))
      .quantize({weight.values.data(), outputs, inputs});
}

std::vector<float> scales_of(const quant::QuantizedMatrix& matrix) {
  std::vector<float> out;
  out.reserve(matrix.scales.floats.size());
  for (const quant::Scale& scale : matrix.scales.floats) out.push_back(scale.scale);
  return out;
}

Value add_int8_linear(const OnnxBuilder& to, const Value& input, const std::string& weight) {
  const std::string codes = weight + ".codes";
  const std::string scales = weight + ".scales";
  if (!to.constants.has(codes)) {
    const auto matrix = quantized(to.tensor(weight), OnnxPrecision::Int8);
    const Shape shape{matrix.rows, matrix.cols};
    to.constants.codes(codes, OnnxType::Int8, {shape.inputs, shape.outputs},
                       transposed(matrix.codes, shape));
    to.constants.floats(scales, {shape.outputs}, scales_of(matrix));
  }
  OnnxGraph& graph = to.graph;
  const auto rounded = graph.nodes("DynamicQuantizeLinear", {input}, 3);
  const Value sums = graph.node("MatMulInteger", {rounded[0], codes, rounded[2]});
  const Value floats =
      graph.node("Cast", {sums}, {attribute("to", static_cast<int64_t>(OnnxType::Float))});
  return graph.node("Mul", {floats, graph.node("Mul", {rounded[1], scales})});
}

/// Codes of a weight as MatMulNBits has them: [N, groups, 16], two a byte, the earlier one in the
/// low half; a short last group ends with zeros.
std::vector<uint8_t> nibbles_of(const quant::QuantizedMatrix& matrix, int64_t groups) {
  std::vector<uint8_t> bytes(static_cast<size_t>(matrix.rows * groups * kGroup / 2),
                             kNibbleZero << 4 | kNibbleZero);
  const formats::Element& element = matrix.spec.format->element;
  for (int64_t row = 0; row < matrix.rows; ++row)
    for (int64_t i = 0; i < matrix.cols; ++i) {
      const float value = element.decode(matrix.codes[static_cast<size_t>(row * matrix.cols + i)]);
      const auto code = static_cast<uint8_t>(static_cast<int>(value) + kNibbleZero);
      uint8_t& byte = bytes[static_cast<size_t>((row * groups * kGroup + i) / 2)];
      byte = i % 2 == 0 ? static_cast<uint8_t>((byte & 0xf0) | code)
                        : static_cast<uint8_t>((byte & 0x0f) | code << 4);
    }
  return bytes;
}

Value add_int4_linear(const OnnxBuilder& to, const Value& input, const std::string& weight) {
  const Shape shape = shape_of(to.tensor(weight));
  const std::string codes = weight + ".codes";
  const std::string scales = weight + ".scales";
  if (!to.constants.has(codes)) {
    const auto matrix = quantized(to.tensor(weight), OnnxPrecision::Int4);
    const int64_t groups = (shape.inputs + kGroup - 1) / kGroup;
    to.constants.codes(codes, OnnxType::UInt8, {shape.outputs, groups, kGroup / 2},
                       nibbles_of(matrix, groups));
    to.constants.floats(scales, {shape.outputs * groups}, scales_of(matrix));
  }
  return to.graph.node(
      "MatMulNBits", {input, codes, scales},
      {attribute("K", shape.inputs), attribute("N", shape.outputs), attribute("bits", int64_t{4}),
       attribute("block_size", kGroup), attribute("accuracy_level", kAccuracyLevel)},
      "com.microsoft");
}

}  // namespace

OnnxQuantizers onnx_quantizers(OnnxPrecision precision) {
  switch (precision) {
    case OnnxPrecision::Float32:
      break;
    case OnnxPrecision::Int8:
      return {"int8/channel", "uint8/tensor"};
    case OnnxPrecision::Int4:
      return {"int4/group32", "int8/group32"};
  }
  return {"none", "none"};
}

Value add_float_linear(const OnnxBuilder& to, const Value& input, const std::string& weight) {
  const std::string name = weight + ".transposed";
  if (!to.constants.has(name)) {
    const store::Tensor& tensor = to.tensor(weight);
    const Shape shape = shape_of(tensor);
    to.constants.floats(name, {shape.inputs, shape.outputs}, transposed(tensor.values, shape));
  }
  return to.graph.node("MatMul", {input, name});
}

Value add_linear(const OnnxBuilder& to, const Value& input, const std::string& weight) {
  switch (to.precision) {
    case OnnxPrecision::Float32:
      break;
    case OnnxPrecision::Int8:
      return add_int8_linear(to, input, weight);
    case OnnxPrecision::Int4:
      return add_int4_linear(to, input, weight);
  }
  return add_float_linear(to, input, weight);
}

}  // namespace driftless::exporter
