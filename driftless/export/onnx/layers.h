// SPDX-License-Identifier: Apache-2.0
// Layers and blocks as nodes of an ONNX graph.
#pragma once

#include <string>

#include "driftless/export/onnx/export_onnx.h"
#include "driftless/export/onnx/graph.h"

namespace driftless::exporter {

/// Where nodes and constants of a model go.
struct OnnxBuilder {
  OnnxGraph& graph;
  OnnxConstants& constants;
  const store::Checkpoint& model;
  OnnxPrecision precision;

  [[nodiscard]] const store::Tensor& tensor(const std::string& name) const {
    return model.tensors.at(name);
  }
};

/// input [..., K] times the transposed weight [N, K], in the builder's precision.
Value add_linear(const OnnxBuilder& to, const Value& input, const std::string& weight);
/// The same in float32.
Value add_float_linear(const OnnxBuilder& to, const Value& input, const std::string& weight);

/// A block of a network: mixes positions, then channels; state [batch, T, D].
Value add_block(const OnnxBuilder& to, const Value& state, const std::string& prefix);

}  // namespace driftless::exporter
