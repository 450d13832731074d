// SPDX-License-Identifier: Apache-2.0
// A linear layer under a fixed quantization plan, on libtorch: the input is smoothed, rotated and
// quantized, then multiplied by the weight that quant::PlannedLayer makes; with delta, what the
// input has changed by is, and the products are summed. Without gradients.
//
// Products run in bfloat16 with float32 sums on CUDA where that changes no operand: both sides hold
// values that bfloat16 holds exactly, or elements of such a format times scales that do not vary
// along the sum, which are taken out of it. All others run in float32.
#pragma once

#include <ATen/ATen.h>

#include "driftless/lab/net/step_tap.h"
#include "driftless/lab/quant/layer_quantizer.h"
#include "driftless/lab/quant/quantize.h"
#include "driftless/quant/plan/planned_layer.h"
#include "driftless/store/checkpoint.h"

namespace driftless::lab {

class PlannedLinear : public LayerQuantizer {
 public:
  /// `weight` [outputs, inputs] is the checkpoint's; `activations` tells device and type of inputs.
  PlannedLinear(const quant::PlannedLayer& layer, quant::ConstMat weight,
                const at::TensorOptions& activations);

  /// On CUDA a transposed input gives a transposed output. Throws Numeric with board, layer and
  /// call for NaN and infinity, unless the site takes a note of them. A plan with delta requires
  /// the site's memory of changes.
  [[nodiscard]] at::Tensor linear(const at::Tensor& input, const LinearWeight& weight,
                                  const Site& site) const override;
  [[nodiscard]] Multiplier multiplier() const override { return Multiplier::Quantizer; }
  [[nodiscard]] const FakeQuantizer* input() const override { return nullptr; }

 private:
  [[nodiscard]] at::Tensor multiplied(const at::Tensor& input, const Site& site) const;
  /// The sum of the products of all changes, the one to `values` included.
  [[nodiscard]] at::Tensor sum_of_changes(const at::Tensor& values, at::ScalarType type,
                                          const Site& site) const;
  [[nodiscard]] at::Tensor transformed(const at::Tensor& input) const;
  [[nodiscard]] at::Tensor rotated(const at::Tensor& input) const;
  [[nodiscard]] Quantized quantized(const at::Tensor& input, const Site& site) const;
  /// The product of what was quantized for the call with the weight, and with the scales of both.
  [[nodiscard]] at::Tensor scaled_product(const Quantized& operand, at::ScalarType type,
                                          int64_t call) const;
  /// `factor` times the product, summed in float32; of the weight's type, or float32 where `type`
  /// says so.
  [[nodiscard]] at::Tensor product(const at::Tensor& values, at::ScalarType type,
                                   float factor) const;

  quant::PlannedLayer layer_;
  at::Tensor weight_;   // [length, outputs], in the type of the product
  float factor_ = 1;    // a scale of all outputs that is not in the weight
  at::Tensor scales_;   // of each output, [outputs]; undefined where there are none to take out
  at::Tensor factors_;  // [inputs], undefined without smoothing
  at::Tensor core_;     // of the rotation, [order, order]; undefined without
};

/// All layers of a plan. Throws what quant::require_fits and quant::PlannedLayer throw.
LayerQuantizers plan_linears(const store::Checkpoint& checkpoint, const quant::QuantPlan& plan,
                             const at::TensorOptions& activations);

/// The biases that the plan changes, in place of those in `tensors`.
void plan_biases(const quant::QuantPlan& plan, const model::ModelConfig& config,
                 store::TensorMap& tensors);

}  // namespace driftless::lab
