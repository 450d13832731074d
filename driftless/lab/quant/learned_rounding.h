// SPDX-License-Identifier: Apache-2.0
// Weights that learn how they are rounded, and nothing else. Each block keeps the scale that the
// float weights have under the plan, so that a code is round(w / s); and no weight may leave its
// float value by more than half the spacing of its codes, so that its code is one of the two next
// to that value. What the plan does not quantize stays as it is.
#pragma once

#include <ATen/ATen.h>

#include "driftless/lab/net/parameters.h"
#include "driftless/quant/plan/plan.h"

namespace driftless::lab {

/// Throws BadConfig, `where` first, unless roundings of the quantizer can be learned: symmetric
/// integers without a window whose scales follow from the weights.
void require_roundable(const quant::QuantSpec& spec, std::string_view where);

class LearnedRounding {
 public:
  /// `origin` are the float weights, flat.
  LearnedRounding(const ParameterLayout& layout, const quant::QuantPlan& plan,
                  const at::Tensor& origin);

  /// Moves weights that have left their float values too far to where they may be.
  void confine(at::Tensor& weights) const;

  /// The weights that are multiplied.
  [[nodiscard]] at::Tensor rounded(const at::Tensor& weights) const;

 private:
  at::Tensor least_, most_;             // of weights
  at::Tensor spacing_;                  // of codes; negative under a negative scale
  at::Tensor lowest_code_, most_code_;  // in spacings
  at::Tensor is_rounded_;
};

}  // namespace driftless::lab
