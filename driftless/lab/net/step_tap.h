// SPDX-License-Identifier: Apache-2.0
// What may look into a supervision step, and change what its linear layers multiply.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

#include <ATen/ATen.h>

#include "driftless/model/schedule.h"

namespace driftless::lab {

class ChangeMemory;

class StepTap {
 public:
  virtual ~StepTap() = default;

  /// Whether linear_input wants to be asked; if not, the fused sublayers may run.
  [[nodiscard]] virtual bool taps_linear_inputs() const { return true; }

  /// Sees the input of every linear layer, [boards, rows, K] with the reduction along K (rows are
  /// channels in a token mixer), and returns what is multiplied in its place. `layer` is the
  /// weight's name in the checkpoint, `call` an index into model::schedule; heads come after the
  /// last call and have its index.
  virtual at::Tensor linear_input(std::string_view /*layer*/, int64_t /*call*/,
                                  const at::Tensor& input) {
    return input;
  }

  /// Sees what a layer under a plan multiplies, right after its linear_input.
  virtual void quantized_input(std::string_view /*layer*/, int64_t /*call*/,
                               const at::Tensor& /*values*/) {}

  /// Sees a state [boards, T, D] after the network call that updated it.
  virtual void state(model::State /*which*/, int64_t /*call*/, const at::Tensor& /*values*/) {}
};

/// Called between the sublayers of a step and, where it is differentiated, when gradients come back
/// through them: what it throws ends the step.
using BetweenLayers = std::function<void()>;

/// Where in a step a layer works.
struct Site {
  int64_t call = 0;
  StepTap* tap = nullptr;
  at::Tensor not_finite = {};            ///< as in QuantizeOptions
  std::span<const int64_t> boards = {};  ///< their numbers, for messages
  const BetweenLayers* between = nullptr;
  ChangeMemory* changes = nullptr;  ///< null where no layer has a plan with delta
  int64_t first_board = 0;          ///< among those of the step

  [[nodiscard]] bool taps_linear_inputs() const {
    return tap != nullptr && tap->taps_linear_inputs();
  }
};

}  // namespace driftless::lab
