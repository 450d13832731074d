// SPDX-License-Identifier: Apache-2.0
// Fake quantization along an axis, of values or of a SwiGLU's output, forward and backward, as
// plain functions over device pointers like those of cuda/kernels.h.
#pragma once

#include <cstdint>

#include "driftless/formats/block.h"
#include "driftless/lab/cuda/kernels.h"
#include "driftless/quant/scale/scale.h"

namespace driftless::lab::cuda {

/// Values that share an exponent where a quantizer has no scales of its own.
inline constexpr int kFakeBlock = 32;

/// Values [outer, length, inner] that are quantized along `length`. inner is 1 (then length is a
/// multiple of vector_length) or a multiple of vector_length.
struct QuantShape {
  int64_t outer;
  int64_t length;
  int64_t inner;
};

/// The element format, symmetric and vectorizable, how its blocks share an exponent (by any rule
/// but mse), and between which scaled values the gradient passes.
struct FakeQuantRule {
  formats::BlockScaling scaling;
  quant::Extent passing;
  bool passes_ends;  ///< whether those two values are inside
};

/// What is quantized: `in` itself, or silu(gate) * up of in [outer, 2, length, inner].
enum class QuantSource { Values, Swiglu };

/// A float scale for every `per_scale` neighbors, a multiple of vector_length.
struct ScaleView {
  const float* values;
  int64_t per_scale;
};

/// out [outer, length, inner] = the quantized values. Without `scales` each block of kFakeBlock
/// along the axis has a shared exponent. What is not finite becomes NaN.
void fake_quantize(Real type, QuantShape shape, const FakeQuantRule& rule, QuantSource from,
                   const void* in, const ScaleView* scales, void* out, Stream stream);

struct QuantGradient {
  void* d_in;       ///< in the shape of `in`
  bool adds;        ///< to what d_in holds, for Values
  float* partials;  ///< scale_partials sums of d_out times the derivative of value / scale; or null
};
/// Straight through, zero where clipped.
void fake_quantize_backward(Real type, QuantShape shape, const FakeQuantRule& rule,
                            QuantSource from, const void* in, const ScaleView* scales,
                            const void* d_out, QuantGradient to, Stream stream);
int64_t scale_partials(Real type, QuantShape shape);

/// quant::symmetric_scale of each run of `count` neighbors, a multiple of vector_length; not finite
/// where a value is not.
void absmax_scales(Real type, int64_t runs, int64_t count, const void* in,
                   const formats::Element& element, float* scales, Stream stream);

}  // namespace driftless::lab::cuda
