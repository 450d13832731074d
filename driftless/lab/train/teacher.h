// SPDX-License-Identifier: Apache-2.0
// Distillation: the float model runs beside the quantized one, on the same boards, and every state
// of the differentiated calls is drawn towards its. It goes along its own trajectory, across
// iterations, or starts those calls from the quantized model's states.
#pragma once

#include <cstdint>
#include <vector>

#include <ATen/ATen.h>

#include "driftless/lab/net/recursive_net.h"
#include "driftless/lab/net/step_tap.h"
#include "driftless/lab/train/carry.h"

namespace driftless::lab {

/// The states of one step, in the order of its network calls.
class StateTrail : public StepTap {
 public:
  [[nodiscard]] bool taps_linear_inputs() const override { return false; }
  void state(model::State which, int64_t /*call*/, const at::Tensor& values) override {
    states_.push_back(values);
    which_.push_back(which);
  }
  [[nodiscard]] const std::vector<at::Tensor>& states() const { return states_; }
  /// Both states after the first `calls` of them.
  [[nodiscard]] TensorStates after(size_t calls, const TensorStates& start) const;

 private:
  std::vector<at::Tensor> states_;
  std::vector<model::State> which_;
};

class Teacher {
 public:
  /// `flat` holds float weights by the model's layout; `between` is as in StepOptions.
  Teacher(const model::ModelConfig& config, const at::Tensor& flat, at::ScalarType activations,
          const TensorStates& initial, BetweenLayers between = {});

  /// Moves carry.followed one step on (boards in free slots start from `initial`) and returns the
  /// mean square distance of `trail` to it: a mean over the differentiated calls and over the
  /// values of a state, a sum over boards, as the other losses are.
  at::Tensor distance(Carry& carry, const TensorStates& initial, const Inputs& inputs,
                      const StateTrail& trail) const;

  /// The same distance to float calls that start where `trail`, a step from `start`, stands when
  /// the differentiated calls begin.
  [[nodiscard]] at::Tensor local_distance(const TensorStates& start, const Inputs& inputs,
                                          const StateTrail& trail) const;

 private:
  /// Of the last states of each, as many as are differentiated.
  [[nodiscard]] at::Tensor apart(const StateTrail& trail, const StateTrail& followed) const;

  RecursiveNet net_;
  int64_t first_gradient_;
  BetweenLayers between_;
};

}  // namespace driftless::lab
