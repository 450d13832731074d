// SPDX-License-Identifier: Apache-2.0
// A plan put to work on one linear layer: the weight as the layer multiplies it, and what happens
// to its input. A rotation takes blocks as long as the scale groups of the activations where these
// are an order that has one, and the whole input otherwise.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "driftless/quant/mat_view.h"
#include "driftless/quant/plan/hadamard.h"
#include "driftless/quant/plan/plan.h"
#include "driftless/quant/quantizer.h"

namespace driftless::quant {

class PlannedLayer {
 public:
  /// Throws InvalidArgument when the plan still needs calibration.
  PlannedLayer(const LayerPlan& plan, ConstMat weight);
  /// The same for a weight of that many inputs that is at hand as it is multiplied only, with the
  /// smoothing factors that it was made with.
  PlannedLayer(const LayerPlan& plan, int64_t inputs, std::vector<float> factors);

  [[nodiscard]] const LayerPlan& plan() const noexcept { return plan_; }
  [[nodiscard]] int64_t inputs() const noexcept { return inputs_; }
  /// Inputs after the transforms: more than before where a rotation pads.
  [[nodiscard]] int64_t length() const noexcept { return length_; }
  [[nodiscard]] bool transforms_input() const noexcept { return has_factors() || rotation_; }
  [[nodiscard]] bool quantizes_input() const noexcept { return !plan_.acts.is_none(); }
  /// Whether the product multiplies values that bfloat16 holds exactly.
  [[nodiscard]] bool is_exact_in_bf16() const noexcept;
  /// Whether a scale depends on the whole input of a board, so that it cannot be cut into parts.
  [[nodiscard]] bool needs_whole_input() const noexcept;

  /// The weight [outputs, inputs] as the layer multiplies it, [outputs, length()]. Throws Numeric
  /// for NaN and infinity.
  [[nodiscard]] std::vector<float> multiplied_weight(ConstMat weight) const;
  /// The same before it is quantized.
  [[nodiscard]] std::vector<float> transformed_weight(ConstMat weight) const;

  /// Smooths and rotates each row of `in` [n, inputs] into `out` [n, length()]. `scratch` holds
  /// scratch_length() values. Allocates nothing.
  void transform_input(ConstMat in, Mat out, std::span<float> scratch) const;
  [[nodiscard]] int64_t scratch_length() const noexcept;
  /// The parts of transform_input, for backends with their own: inputs are divided by the factors
  /// (none: empty), then rotated.
  [[nodiscard]] std::span<const float> factors() const noexcept { return factors_; }
  [[nodiscard]] const std::optional<Hadamard>& rotation() const noexcept { return rotation_; }

  /// Quantizes inputs of the network call `call`. Requires quantizes_input().
  [[nodiscard]] const Quantizer& input_quantizer(int64_t call) const noexcept {
    return quantizers_[quantizers_.size() == 1 ? 0 : static_cast<size_t>(call)];
  }

 private:
  [[nodiscard]] bool has_factors() const noexcept { return !factors_.empty(); }

  LayerPlan plan_;
  int64_t inputs_;
  int64_t length_;
  std::vector<float> factors_;  // of the smoothing, or none
  std::optional<Hadamard> rotation_;
  std::vector<Quantizer> quantizers_;  // one, or one a call
};

/// The quantizer of the layer's weight, with its learned scales where it has them.
Quantizer weight_quantizer(const LayerPlan& plan);

/// Whether bfloat16 holds every quantized value: at most 8 significant bits times a power of two.
/// Values below bfloat16's least normal number, 2^-126, do not count.
bool is_exact_in_bf16(const QuantSpec& spec) noexcept;

/// Whether a scale of the quantizer depends on all values of its matrix.
bool needs_whole_matrix(const QuantSpec& spec) noexcept;

}  // namespace driftless::quant
