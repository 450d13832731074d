// SPDX-License-Identifier: Apache-2.0
// The recursion as nodes of an ONNX graph: embedded boards, a supervision step, the heads, and the
// loop over steps.
#pragma once

#include "driftless/export/onnx/layers.h"

namespace driftless::exporter {

struct OnnxStates {
  Value h, l;  ///< [batch, T, D]
};

struct OnnxReadout {
  Value logits;       ///< [batch, S, V]
  Value halt_logits;  ///< [batch, 2]: halt, continue
};

ValueType state_type(const model::ModelConfig& config);
ValueType logits_type(const model::ModelConfig& config);
inline const ValueType kHaltType = {OnnxType::Float, {kBatch, 2}};

/// The inputs `tokens`, and `puzzle` where the model has prefix rows; embedded, [batch, T, D].
Value add_embedding(const OnnxBuilder& to);

/// The network calls of one step.
OnnxStates add_step(const OnnxBuilder& to, const Value& embedded, OnnxStates states);

OnnxReadout add_heads(const OnnxBuilder& to, const Value& h);

/// Inputs, one step and outputs.
void add_step_graph(const OnnxBuilder& to);
/// Inputs, at most `steps` steps as a Loop, and outputs. Returns how many nodes the body has.
int64_t add_solve_graph(const OnnxBuilder& to, int64_t steps);

}  // namespace driftless::exporter
