// SPDX-License-Identifier: Apache-2.0
// The fused CUDA kernels of training, as plain functions over device pointers: no torch header on
// either side, so that the .cu files compile wherever nvcc is. All run asynchronously on `stream`;
// a launch that fails throws Error (Internal). Shapes are the caller's promise (ops.cc checks).
#pragma once

#include <cstdint>

namespace driftless::lab::cuda {

/// A cudaStream_t, opaque here.
using Stream = void*;

/// Element type of activations. Arithmetic is float32 in both.
enum class Real { Float32, BFloat16 };

/// Elements per 16-byte access; every contiguous extent below must be a multiple of it.
constexpr int64_t vector_length(Real type) { return type == Real::Float32 ? 4 : 8; }

/// gate_up is [rows, 2 * half]: `half` gates, then `half` ups; act and d_act are [rows, half].
struct SwigluShape {
  int64_t rows;
  int64_t half;
};
/// act = silu(gate) * up
void swiglu_forward(Real type, SwigluShape shape, const void* gate_up, void* act, Stream stream);
void swiglu_backward(Real type, SwigluShape shape, const void* gate_up, const void* d_act,
                     void* d_gate_up, Stream stream);

/// States are [batch, positions, width], width contiguous. The norm runs over the width (Channels)
/// or over the positions (Tokens); scale holds one float32 per normalized vector: [batch,
/// positions] or [batch, width].
enum class NormAxis { Channels, Tokens };
struct StateShape {
  int64_t batch;
  int64_t positions;
  int64_t width;
};
/// s = h + update rounded to `type`; scale = 1 / sqrt(mean(s^2) + eps); y = s * scale
void residual_norm_forward(Real type, NormAxis axis, StateShape shape, const void* h,
                           const void* update, float eps, void* y, float* scale, Stream stream);
/// d_s = scale * (d_y - y * mean(d_y * y)), the gradient of both h and update
void residual_norm_backward(Real type, NormAxis axis, StateShape shape, const void* d_y,
                            const void* y, const float* scale, void* d_s, Stream stream);

/// Rows of `row_stride` values, of which the first `turned` are segments of 2 * half values. Row r
/// has position r % positions; segment g of a row turns by the angles [position, g % segments].
struct RopeShape {
  int64_t rows;
  int64_t positions;
  int64_t row_stride;
  int64_t turned;
  int64_t segments;
  int64_t half;
};
/// Turns (v[i], v[i + half]) of every segment by its angle times `sign`, in place. cos and sin are
/// [positions, segments, half].
void rotate(Real type, RopeShape shape, float sign, const float* cos, const float* sin,
            void* values, Stream stream);

/// A driftless::Rng in device memory.
struct Generator {
  uint64_t words[4];
  double spare;       ///< the second value of the last pair
  int64_t has_spare;  ///< 0 or 1
};
/// `count` values for each of `slots` generators: scale * N(0, 1), leaving out what lies beyond
/// +-limit before scaling.
struct NoiseShape {
  int64_t slots;
  int64_t count;
  double limit;
  double scale;
};
/// out[i] gets the next values of generators[slots[i]], as Rng::gaussian() draws them. Slots are
/// distinct.
void draw_normal(Generator* generators, const int64_t* slots, NoiseShape shape, float* out,
                 Stream stream);

/// How the threads of draw_standard_normal share a generator's pairs: kNoiseParts parts of `pairs`.
inline constexpr int64_t kNoiseLeaps = 6;
inline constexpr int64_t kNoiseParts = 1 << kNoiseLeaps;
struct NoiseParts {
  int64_t pairs;
  const uint64_t* leaps;  ///< doubling_leaps(2 * pairs, kNoiseLeaps) in device memory
};
/// Pairs that hold `count` values nearly always: 4 / pi are tried for one that is accepted, and the
/// last part tries on where they do not.
constexpr int64_t pairs_of_part(int64_t count) {
  return (count / 2 * 13 / 10 + kNoiseParts) / kNoiseParts;
}
/// The same for N(0, 1) without a limit, many threads a generator; `count` is 2 or more.
void draw_standard_normal(Generator* generators, const int64_t* slots, int64_t slot_count,
                          int64_t count, NoiseParts parts, float* out, Stream stream);

/// What an optimizer step reads from device memory, so that a captured graph can be replayed with
/// new values.
struct StepScalars {
  float lr;
  float inverse_bias1;       ///< 1 / (1 - beta1^t)
  float inverse_root_bias2;  ///< 1 / sqrt(1 - beta2^t)
};
struct AdamConstants {
  float beta1;
  float beta2;
  float weight_decay;
  float ema_rate;
};
/// One flat vector of parameters and its companions; compute may be null.
struct FlatParameters {
  int64_t count;
  float* values;
  const float* grads;
  float* moment1;
  float* moment2;
  float* ema;
  void* compute;  ///< bfloat16 copy of the values
};
/// AdamATan2, then the exponential moving average, then the bfloat16 copy. Does nothing where
/// *skip is nonzero.
void adam_atan2_step(const FlatParameters& parameters, AdamConstants constants,
                     const StepScalars* scalars, const bool* skip, Stream stream);

}  // namespace driftless::lab::cuda
