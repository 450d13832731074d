// SPDX-License-Identifier: Apache-2.0
// The two halves of a token-mixer block as differentiable functions of [B, T, D] states, with the
// state kept in that layout throughout: mixing tokens is a batched product W x[b], so nothing is
// ever transposed.
#pragma once

#include <string>

#include <ATen/ATen.h>

#include "driftless/lab/quant/fake_quant.h"
#include "driftless/model/config.h"

namespace driftless::lab {

/// One SwiGLU: gate_up [2I, W], down [W, I]. The masters collect gradients; the copies, in the
/// activations' type, are multiplied. Where no gradient is wanted the masters may be undefined.
struct SwigluWeights {
  at::Tensor gate_up;
  at::Tensor down;
  at::Tensor
      gate_up_copy;  ///< token mixer: transposed, [W, 2I], so that its rows are 16-byte aligned
  at::Tensor down_copy;
  const FakeQuantizer* gate_up_input = nullptr;  ///< null keeps float
  const FakeQuantizer* down_input = nullptr;
};

/// norm over T of h + SwiGLU along T. W is T. `call` chooses scales that differ by network call.
at::Tensor mix_tokens(const at::Tensor& h, const SwigluWeights& weights, double eps,
                      int64_t call = 0);

/// In words, whether mixers of this model run fused on the device in float, and if not, why.
std::string mixers_note(const model::ModelConfig& config, at::Device device);

/// norm over D of h + SwiGLU along D. W is D.
at::Tensor mix_channels(const at::Tensor& h, const SwigluWeights& weights, double eps,
                        int64_t call = 0);

}  // namespace driftless::lab
