// SPDX-License-Identifier: Apache-2.0
// A model's weights as a quantization plan multiplies them, and its activations' quantizers, for
// training and evaluating. Weights are quantized once per optimizer step, so that every call of the
// recursion sees the same ones; their gradients are collected as if they were floats and taken
// through the quantizer once, after the backward pass.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <ATen/ATen.h>

#include "driftless/lab/net/parameters.h"
#include "driftless/lab/quant/fake_quant.h"
#include "driftless/lab/quant/qat_plan.h"

namespace driftless::lab {

/// The flat vector of static scales, see StepSlot.
struct LogSteps {
  at::Tensor values;  ///< log s, float32; empty where nothing is static
  at::Tensor grads;   ///< undefined where none are wanted
};

class QuantizedModel {
 public:
  /// `activations`: type of the copy. Everything lies on the device of the steps.
  QuantizedModel(const model::ModelConfig& config, const QatPlan& qat, const LogSteps& steps,
                 at::ScalarType activations);
  // Quantizers are known by their addresses.
  QuantizedModel(const QuantizedModel&) = delete;
  QuantizedModel& operator=(const QuantizedModel&) = delete;

  /// Reads the steps anew and quantizes the flat masters into copy().
  void refresh(const at::Tensor& masters);
  [[nodiscard]] const at::Tensor& copy() const { return copy_; }
  [[nodiscard]] const InputQuantizers& inputs() const { return inputs_; }

  /// Turns gradients of the copy into those of the masters, in place, and adds those of the
  /// weights' learned steps.
  void pull_back(const at::Tensor& masters, at::Tensor& grads) const;

  /// Zero, or infinite where a step is no positive normal number: for Health.
  [[nodiscard]] at::Tensor alarm() const;
  /// "" or the layer whose step is no positive normal number. Waits for the device.
  [[nodiscard]] std::string bad_step() const;

  /// The plan with the steps as they are now. Throws Numeric on one that bad_step finds.
  [[nodiscard]] quant::QuantPlan plan() const;

 private:
  struct Weight {
    std::string name;
    std::string bias;  ///< name, or "" where the bias stays float
    FakeQuantizer quantizer;
    StepSlot slot;
  };
  [[nodiscard]] at::Tensor bias_scale(const Weight& weight, const at::Tensor& masters) const;

  QatPlan qat_;
  Layout layout_;
  std::vector<StepSlot> slots_;
  at::Tensor log_steps_;
  at::Tensor steps_;  ///< exp of the log steps, in place
  at::Tensor copy_;
  std::vector<Weight> weights_;
  InputQuantizers inputs_;
};

/// log of the starting steps: learned steps of weights by least squared error, activations from the
/// plan, which has been calibrated.
at::Tensor starting_steps(const QatPlan& qat, const quant::QuantPlan& calibrated,
                          const model::ModelConfig& config, const NamedTensors& weights);

}  // namespace driftless::lab
