// SPDX-License-Identifier: Apache-2.0
// Scalar truth of the block formats: elements that share a scale. A power-of-two scale 2^S comes
// from one of the exponent rules; a two-level scale (NVFP4) is an e4m3 number per block times one
// float per tensor. All values are finite float32; the callers check that.
#pragma once

#include <cstdint>
#include <span>

#include "driftless/formats/e8m0fnu.h"
#include "driftless/formats/element.h"
#include "driftless/formats/exponent_rule.h"
#include "driftless/formats/float_bits.h"
#include "driftless/formats/minifloat.h"

namespace driftless::formats {

/// Blocks up to this length keep the squared-error sums of the mse rule within 32 bits.
inline constexpr int64_t kMaxBlock = 256;

/// Fraction bits of one squared error in the mse rule, in units of 4^e with 2^e the octave of the
/// block's largest magnitude; even, so that an error can be scaled before it is squared. Sums of
/// integers do not depend on their order.
inline constexpr int kSquaredErrorBits = 20;

/// An element format with the rule that scales blocks of it, worked out once per tensor.
struct BlockScaling {
  Element element;
  ExponentRule rule;
  ExponentThresholds thresholds;
};
BlockScaling block_scaling(const Element& element, ExponentRule rule) noexcept;

/// Limits an exponent to -127 ... 127 - max_exponent, so that its scale has an e8m0 code and every
/// decoded value is a finite float32.
constexpr int limit_exponent(const Element& element, int exponent) noexcept {
  return limited(exponent, E8m0fnu::kMinExponent, E8m0fnu::kMaxExponent - element.max_exponent);
}

/// The exponent before limiting that the thresholds give a block whose largest magnitude is absmax,
/// above zero. For the mse rule this is the middle one of its candidates.
constexpr int threshold_exponent(const BlockScaling& scaling, float absmax) noexcept {
  const auto [octave, fraction] = octave_of(absmax);
  const int raised = fraction >= scaling.thresholds.raise_from ? 1 : 0;
  const int lowered = fraction < scaling.thresholds.lower_below ? 1 : 0;
  return octave - scaling.element.max_exponent + raised - lowered;
}

/// The limited shared exponent S of a block. An all-zero block has S = -127 (scale code 0).
int shared_exponent(const BlockScaling& scaling, std::span<const float> block) noexcept;

/// The code of value / 2^exponent. The quotient is exact wherever it can round to a nonzero code.
uint16_t encode_scaled(const Element& element, float value, int exponent) noexcept;

/// The value of a code times 2^exponent: exact for exponents that shared_exponent returns.
float decode_scaled(const Element& element, uint16_t code, int exponent) noexcept;

/// The unit of the squared errors of a run under float scales: 2^(kSquaredErrorBits / 2) in units
/// of the octave of its largest magnitude. Below 2^-100 all is noise beneath every stored scale.
constexpr float error_unit(float absmax) noexcept {
  const int octave = absmax == 0 ? -100 : larger(octave_of(absmax).exponent, -100);
  return power_of_two(kSquaredErrorBits / 2 - octave);
}

/// Sum over the run of the squared errors under one scale, each in units of 1 / unit^2 rounded to
/// an integer, to nearest even. Requires at most kMaxBlock values.
uint32_t scaled_squared_error(const Element& element, std::span<const float> run, float scale,
                              float unit) noexcept;

/// The float that all block scales of a tensor are multiples of: absmax / (448 * element.max), at
/// least 2^-126, and low enough that no decoded value overflows.
constexpr float two_level_tensor_scale(const Element& element, float tensor_absmax) noexcept {
  constexpr float kMaxBlockScale = E4m3fn::decode(E4m3fn::kMaxCode);
  float scale = larger(tensor_absmax / (kMaxBlockScale * element.max), power_of_two(-126));
  while (magnitude_bits(kMaxBlockScale * scale * element.max) >= kFloatInfinityBits) {
    scale = next_below(scale);
  }
  return scale;
}

/// The e4m3 code of (block_absmax / element.max) / tensor_scale, kept within 2^-6 ... 448.
constexpr uint16_t two_level_block_scale(const Element& element, float block_absmax,
                                         float tensor_scale) noexcept {
  constexpr float kSmallestNormal = power_of_two(E4m3fn::kMinExponent);
  return E4m3fn::encode(larger(block_absmax / element.max / tensor_scale, kSmallestNormal));
}

/// The scale that an element of the block is divided by: decode(code) * tensor_scale.
constexpr float two_level_scale(uint16_t block_scale, float tensor_scale) noexcept {
  return E4m3fn::decode(block_scale) * tensor_scale;
}

}  // namespace driftless::formats
