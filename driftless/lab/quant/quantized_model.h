// SPDX-License-Identifier: Apache-2.0
// A model's weights as training and its evaluation multiply them: through the quantizers of a plan,
// or as they are, where the plan has no layers. Weights are quantized once per optimizer step, so
// that every call of the recursion sees the same ones; their gradients are collected as if they
// were floats and taken through the quantizer once, after the backward pass.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <ATen/ATen.h>

#include "driftless/lab/net/parameters.h"
#include "driftless/lab/quant/learned_rounding.h"
#include "driftless/lab/quant/qat_plan.h"
#include "driftless/lab/quant/trained_linear.h"

namespace driftless::lab {

/// The flat vector of static scales, see ScaleSlot.
struct LogScales {
  at::Tensor values;  ///< log s, float32; empty where nothing is static
  at::Tensor grads;   ///< undefined where none are wanted
};

class QuantizedModel {
 public:
  /// `weights` are the float model's; where the plan has layers, they get a copy of their own.
  /// `origin` are the float weights that roundings are learned of, flat; undefined where none are.
  QuantizedModel(const model::ModelConfig& config, const QatPlan& qat, const FlatWeights& weights,
                 const LogScales& scales, const at::Tensor& origin = {});
  // Networks keep the address of the quantizers.
  QuantizedModel(const QuantizedModel&) = delete;
  QuantizedModel& operator=(const QuantizedModel&) = delete;

  /// For networks, which this object outlives.
  [[nodiscard]] const FlatWeights& weights() const { return weights_; }

  /// Reads the scales anew and quantizes the masters into the copy.
  void refresh();

  /// Keeps weights where learned roundings allow them to be.
  void confine(at::Tensor& weights) const;
  /// The weights to store: rounded where that is learned, else as they are.
  [[nodiscard]] at::Tensor stored(const at::Tensor& weights) const;

  /// Turns gradients of the copy into those of the masters, in place, and adds those of the
  /// weights' learned scales.
  void pull_back() const;

  /// Zero, or infinite where a scale is no positive normal number: for Health.
  [[nodiscard]] at::Tensor alarm() const;
  /// "" or the layer whose scale is no positive normal number. Waits for the device.
  [[nodiscard]] std::string bad_scale() const;

  /// The plan with the scales as they are now. Throws Numeric on one that bad_scale finds.
  [[nodiscard]] quant::QuantPlan plan() const;

 private:
  struct Layer {
    std::string bias;  ///< name, or "" where the bias stays float
    ScaleSlot slot;
    const TrainedLinear* quantizers;
  };
  [[nodiscard]] const quant::LayerPlan& plan_of(const Layer& layer) const;
  [[nodiscard]] at::Tensor bias_scale(const Layer& layer) const;

  QatPlan qat_;
  ParameterLayout layout_;
  FlatWeights weights_;
  at::Tensor log_scales_;
  at::Tensor scales_;  ///< exp of the logarithms, in place
  std::vector<Layer> layers_;
  LayerQuantizers quantizers_;
  std::optional<LearnedRounding> rounding_;
};

/// log of the starting scales: learned ones of weights by least squared error, activations from the
/// plan, which has been calibrated.
at::Tensor starting_scales(const QatPlan& qat, const quant::QuantPlan& calibrated,
                           const model::ModelConfig& config, const NamedTensors& weights);

}  // namespace driftless::lab
