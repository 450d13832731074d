// SPDX-License-Identifier: Apache-2.0
// A whole mixer fused on Hopper's matrix units, in bfloat16, as plain functions over device
// pointers: y = rms_norm(h + down(silu(gate) * up)) along one axis of a state, and its gradients.
// Products sum in another order than the separate operations', but the same values are rounded to
// bfloat16: gates, ups, act, update and h + update (docs/numerics.md).
#pragma once

#include "driftless/lab/cuda/kernels.h"

namespace driftless::lab::cuda {

struct MixerShape {
  StateShape state;
  int64_t inner;  ///< width of act
};

/// Whether the current device runs these kernels: compute capability 9.0. Of the environment,
/// DRIFTLESS_MIXERS=apart says no and DRIFTLESS_MIXERS=forward says no where gradients are wanted.
enum class Pass { Forward, Backward };
bool has_fused_mixers(Pass pass);

/// Whether a shape fits: rows of whole 16 bytes and whole chunks of the inner width, and no more
/// positions, or channels, than registers hold. Widths are counts of values, not of bytes.
constexpr bool fuses_tokens(const MixerShape& shape) {
  return shape.state.positions <= 128 && shape.state.width % 8 == 0 && shape.inner % 64 == 0;
}
constexpr bool fuses_channels(const MixerShape& shape) {
  return shape.state.width <= 512 && shape.state.width % 8 == 0 && shape.inner % 128 == 0;
}

/// gate_up_t [positions, 2 inner], gates first; down [positions, inner]. y may not be h.
/// scale [batch, width] gets the norm's factors, unless it is null.
void mix_tokens(const MixerShape& shape, const void* h, const void* gate_up_t, const void* down,
                float eps, void* y, float* scale, Stream stream);

/// Whether the token mixer's gradients fit as well.
constexpr bool differentiates_tokens(const MixerShape& shape) {
  return fuses_tokens(shape) && shape.state.positions <= 104 && shape.inner % 256 == 0;
}

/// What mix_tokens() read and wrote.
struct TokenTrace {
  const void* h;
  const void* y;
  const float* scale;
};
/// What mix_tokens_backward() writes: the gradient of h, and what token_gradients() sums.
struct TokenGradients {
  void* d_h;        ///< as h, and so is d_s
  void* d_s;        ///< of h + update
  void* act;        ///< [batch, inner, width]
  void* d_gate_up;  ///< [batch, 2 inner, width]
};
void mix_tokens_backward(const MixerShape& shape, const TokenTrace& trace, const void* d_y,
                         const void* gate_up_t, const void* down, const TokenGradients& out,
                         Stream stream);

/// Sums of the weights' gradients over parts of the batch: float32 [count, rows, columns]. Of their
/// total the first `inner` rows are the transposed gradient of down, the others that of gate_up; of
/// each row the first `positions` columns count.
struct GradientParts {
  int64_t count;
  int64_t rows;
  int64_t columns;
};
GradientParts gradient_parts(const MixerShape& shape);
void token_gradients(const MixerShape& shape, const void* h, const TokenGradients& gradients,
                     float* sums, Stream stream);

/// gate_up [2 inner, width], gates first; down [width, inner]; act [batch * positions, inner] is
/// scratch. y may not be h.
void mix_channels(const MixerShape& shape, const void* h, const void* gate_up, const void* down,
                  float eps, void* act, void* y, Stream stream);

/// d_gate_up [batch * positions, 2 inner], gates first: the gradients of silu(gate) * up by
/// gate_up, given d_s of h + update, whose product with down, rounded to bfloat16, is act's
/// gradient. The width is a multiple of 8, the inner width of 256.
constexpr bool differentiates_act(const MixerShape& shape) {
  return shape.state.width % 8 == 0 && shape.inner % 256 == 0;
}
void channel_act_backward(const MixerShape& shape, const void* d_s, const void* down,
                          const void* gate_up, void* d_gate_up, Stream stream);

}  // namespace driftless::lab::cuda
