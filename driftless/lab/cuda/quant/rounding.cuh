// SPDX-License-Identifier: Apache-2.0
// Rounding on the device: quant/kernels/rounding.h over one lane, and the scalar functions
// themselves for the format that it does not cover.
#pragma once

#include <bit>
#include <cfloat>

#include <cuda_runtime.h>

#include "driftless/formats/block.h"
#include "driftless/formats/e8m0fnu.h"
#include "driftless/formats/minifloat.h"
#include "driftless/quant/kernels/rounding.h"

namespace driftless::lab::cuda {

struct Lane {
  using F = float;
  using I = uint32_t;
  static constexpr F set(float value) { return value; }
  static constexpr I set_int(uint32_t value) { return value; }
  static constexpr F add(F a, F b) { return a + b; }
  static constexpr F sub(F a, F b) { return a - b; }
  static constexpr F mul(F a, F b) { return a * b; }
  static constexpr F min(F a, F b) { return a < b ? a : b; }
  static constexpr F max(F a, F b) { return a > b ? a : b; }
  static constexpr I bits(F value) { return std::bit_cast<I>(value); }
  static constexpr F from_bits(I value) { return std::bit_cast<F>(value); }
  static constexpr F bit_and(F a, F b) { return from_bits(bits(a) & bits(b)); }
  static constexpr F bit_andnot(F mask, F a) { return from_bits(~bits(mask) & bits(a)); }
  static constexpr F bit_or(F a, F b) { return from_bits(bits(a) | bits(b)); }
};

/// The limited shared exponent of a block whose largest magnitude is `absmax`, by any rule but mse.
__device__ inline int threshold_block_exponent(const formats::BlockScaling& scaling, float absmax) {
  if (absmax == 0) return formats::E8m0fnu::kMinExponent;
  return formats::limit_exponent(scaling.element, formats::threshold_exponent(scaling, absmax));
}

/// decode(encode(x)) under a symmetric scale, and the element that it is a multiple of.
template <class Rounding>
struct Symmetric {
  Rounding round;
  __device__ float element(float x, const quant::Scale& scale) const {
    return round(x / scale.scale);
  }
  __device__ float operator()(float x, const quant::Scale& scale) const {
    return element(x, scale) * scale.scale;
  }
};

/// The same with a zero point.
struct Asymmetric {
  formats::Element format;
  __device__ float element(float x, const quant::Scale& scale) const {
    const quant::UniformRounding<Lane> round(format, {-scale.zero, format.max - scale.zero});
    return round(x / scale.scale);
  }
  __device__ float operator()(float x, const quant::Scale& scale) const {
    const float value = element(x, scale) * scale.scale;
    return Lane::max(Lane::min(value, FLT_MAX), -FLT_MAX);
  }
};

/// A format's own two functions.
template <class Format>
struct Scalar {
  __device__ float operator()(float y) const { return Format::decode(Format::encode(y)); }
};

/// Calls use(rounding) with the functor that rounds scaled values to a power-of-two block's
/// element.
template <class Use>
void with_block_rounding(const formats::Element& element, Use use) {
  if (quant::is_uniform(element)) {
    use(quant::UniformRounding<Lane>(element));
  } else {
    use(quant::FloatRounding<Lane>(element));
  }
}

/// Calls use(quantizer) with the functor (value, scale) of any element format.
template <class Use>
void with_quantizer(const formats::Element& element, Use use) {
  if (quant::is_asymmetric(element)) {
    use(Asymmetric{element});
  } else if (!quant::is_vectorizable(element)) {
    use(Symmetric<Scalar<formats::Bf16>>{});
  } else {
    with_block_rounding(element,
                        [&](auto rounding) { use(Symmetric<decltype(rounding)>{rounding}); });
  }
}

}  // namespace driftless::lab::cuda
