// SPDX-License-Identifier: Apache-2.0
// The two operations between matrix products, forward and backward, without autograd: torch's own
// operations on a CPU, one fused kernel each on CUDA. sublayers.h makes them differentiable.
// Activations are contiguous; on CUDA float32 or bfloat16.
#pragma once

#include <cstdint>

#include <ATen/ATen.h>

#include "driftless/lab/cuda/hopper/mixers.h"
#include "driftless/lab/cuda/kernels.h"

namespace driftless::lab {

using cuda::NormAxis;

/// The element type as kernels name it. Throws InvalidArgument on other types.
cuda::Real real_of(const at::Tensor& tensor);

/// silu(gate) * up. Reads gate_up as [rows, 2, half] (gates first) and returns [rows, half].
at::Tensor swiglu_forward(const at::Tensor& gate_up, int64_t rows);
/// The gradient of gate_up, in its shape. d_act holds rows * half values.
at::Tensor swiglu_backward(const at::Tensor& gate_up, const at::Tensor& d_act, int64_t rows);

struct Normed {
  at::Tensor y;  ///< as h
  at::Tensor
      scale;  ///< [B, T, 1] for Channels, [B, 1, D] for Tokens; float32 (float64 for float64)
};
/// y = rms_norm(h + update) along one axis of [B, T, D]; the sum is rounded to h's type first.
Normed residual_norm_forward(const at::Tensor& h, const at::Tensor& update, NormAxis axis,
                             double eps);
/// The gradient of h + update.
at::Tensor residual_norm_backward(const at::Tensor& d_y, const Normed& normed, NormAxis axis);

/// Whether fused mixers take states of this kind: bfloat16 on a device that has the kernels
/// (lab/cuda/hopper/mixers.h).
bool runs_mixers(const at::Tensor& h, cuda::Pass pass);
/// Whether mixer_forward() takes this state, which also has to fit the kernels.
bool fuses_mixer(const at::Tensor& h, int64_t inner, NormAxis axis);
/// y = rms_norm(h + down(silu(gate) * up)) along the axis, fused, where fuses_mixer() says so.
/// gate_up is [2 inner, D] for Channels, transposed, [T, 2 inner], for Tokens. The scale is that of
/// Tokens alone.
Normed mixer_forward(const at::Tensor& h, const at::Tensor& gate_up, const at::Tensor& down,
                     NormAxis axis, double eps);

/// The gradient of swiglu_forward()'s input in a channel mixer, [rows, 2 inner] as gate_up, from
/// d_s [B, T, D] of h + update: swiglu_backward() of the product d_s down, at once where the device
/// has the kernel.
at::Tensor channel_act_backward(const at::Tensor& d_s, const at::Tensor& down,
                                const at::Tensor& gate_up);

/// Whether token_mixer_backward() takes such a state.
bool differentiates_tokens(const at::Tensor& h, int64_t inner);
struct MixerGradients {
  at::Tensor h;
  at::Tensor gate_up;  ///< [2 inner, T], float32
  at::Tensor down;     ///< [T, inner], float32
};
MixerGradients token_mixer_backward(const at::Tensor& h, const Normed& normed,
                                    const at::Tensor& gate_up_t, const at::Tensor& down,
                                    const at::Tensor& d_y);

}  // namespace driftless::lab
