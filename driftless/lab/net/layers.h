// SPDX-License-Identifier: Apache-2.0
// The layers that blocks are made of, as differentiable functions.
#pragma once

#include <string>
#include <string_view>

#include <ATen/ATen.h>

#include "driftless/lab/device/ops.h"
#include "driftless/lab/net/step_tap.h"
#include "driftless/lab/quant/layer_quantizer.h"

namespace driftless::lab {

/// A weight [out, in] and what quantizes its layer.
struct LinearWeight {
  std::string name;   ///< in the checkpoint
  at::Tensor master;  ///< collects the copy's gradient; undefined where torch differentiates that
  at::Tensor copy;    ///< in the activations' type, which is multiplied
  at::Tensor bias = {};                       ///< [out], or undefined
  const LayerQuantizer* quantizer = nullptr;  ///< null is a float layer
};

/// The number of the first board, along the first axis, with a value that is not finite.
int64_t first_bad_board(const at::Tensor& values, const Site& site);

/// The input of every linear layer passes here before it is multiplied, except inside the fused
/// sublayers, which run only where nothing taps the step.
at::Tensor tapped(const at::Tensor& input, std::string_view layer, const Site& site);

/// values [boards, rows, in] times the transposed copy, plus the bias: [boards, rows, out].
at::Tensor product(const at::Tensor& values, const LinearWeight& weight);

/// A linear layer as its quantizer has it; a float layer is the product of its tapped input.
at::Tensor linear(const at::Tensor& input, const LinearWeight& weight, const Site& site);

/// silu(gate) * up of [..., 2 half], gates first: [..., half]. A transposed input stays one.
at::Tensor swiglu(const at::Tensor& gate_up);

/// rms_norm(h + update) along one axis of [B, T, D].
at::Tensor residual_norm(const at::Tensor& h, const at::Tensor& update, NormAxis axis, double eps);

}  // namespace driftless::lab
