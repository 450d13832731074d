// SPDX-License-Identifier: Apache-2.0
// The layers that blocks are made of, as differentiable functions.
#pragma once

#include <string>
#include <string_view>

#include <ATen/ATen.h>

#include "driftless/lab/device/ops.h"
#include "driftless/lab/net/step_tap.h"
#include "driftless/lab/quant/fake_quant.h"

namespace driftless::lab {

/// A weight [out, in]. The master collects gradients; the copy, in the activations' type, is
/// multiplied.
struct LinearWeight {
  std::string name;  ///< in the checkpoint
  at::Tensor master;
  at::Tensor copy;
  const FakeQuantizer* input = nullptr;  ///< quantizes what is multiplied; null keeps float
};

/// The input of every linear layer passes here before it is multiplied, except inside the fused
/// sublayers, which run only where nothing taps the step.
at::Tensor tapped(const at::Tensor& input, std::string_view layer, const Site& site);

/// The input as it is multiplied: tapped, then quantized. [boards, rows, in].
at::Tensor multiplied(const at::Tensor& input, const LinearWeight& weight, const Site& site);

/// input [boards, rows, in] times the transposed weight: [boards, rows, out]; as the plan says
/// where it has the layer.
at::Tensor linear(const at::Tensor& input, const LinearWeight& weight, const Site& site);

/// silu(gate) * up of [..., 2 half], gates first: [..., half]. A transposed input stays one.
at::Tensor swiglu(const at::Tensor& gate_up);

/// rms_norm(h + update) along one axis of [B, T, D].
at::Tensor residual_norm(const at::Tensor& h, const at::Tensor& update, NormAxis axis, double eps);

}  // namespace driftless::lab
