// SPDX-License-Identifier: Apache-2.0
// Rounding vectors to a format's grid by exact float arithmetic: the sum of a value and C = 2^23
// steps is a multiple of a step, rounded to nearest even by the processor, and its low mantissa
// bits count the steps. Formats with Spacing::Irregular, or whose C would overflow (bf16), take the
// scalar kernels. V is the vector type of an instruction set, as in vector_kernels.h; everything is
// constexpr so that CUDA may compile it for a V of one lane.
#pragma once

#include "driftless/formats/element.h"
#include "driftless/formats/float_bits.h"
#include "driftless/quant/scale/scale.h"

namespace driftless::quant {

/// Whether the rounding constant of every octave of the element is a finite float.
constexpr bool is_vectorizable(const formats::Element& element) noexcept {
  const int constant =
      element.max_exponent + 1 + formats::kFloatMantissaBits - element.mantissa_bits;
  return element.spacing == formats::Spacing::Grid && constant <= 127;
}

/// Whether one step serves the whole range, as in integers.
constexpr bool is_uniform(const formats::Element& element) noexcept {
  return element.min_exponent >= element.max_exponent;
}

/// Rounds scaled values to an integer format. What rounds to zero becomes +0, as in codes.
template <class V>
class UniformRounding {
 public:
  using F = typename V::F;
  using I = typename V::I;

  constexpr explicit UniformRounding(const formats::Element& element) noexcept
      : UniformRounding(element, Extent{element.min, element.max}) {}

  /// With other bounds, both multiples of the step.
  constexpr UniformRounding(const formats::Element& element, Extent bounds) noexcept
      : low_(V::set(bounds.low)), high_(V::set(bounds.high)) {
    const int step = element.min_exponent - element.mantissa_bits;
    constant_ = V::set(1.5f * formats::power_of_two(formats::kFloatMantissaBits + step));
    code_mask_ = V::set_int((1u << element.bits) - 1);
  }

  constexpr F operator()(F y) const noexcept { return V::sub(shifted(y), constant_); }

  /// The integer of which codes are the low bits.
  constexpr I steps(F y) const noexcept {
    return V::int_sub(V::bits(shifted(y)), V::bits(constant_));
  }

  constexpr I code(F y) const noexcept { return V::int_and(steps(y), code_mask_); }

 private:
  constexpr F shifted(F y) const noexcept {
    return V::add(V::max(V::min(y, high_), low_), constant_);
  }

  F low_, high_, constant_;
  I code_mask_;
};

/// Rounds scaled values to a minifloat; zeros keep their sign.
template <class V>
class FloatRounding {
 public:
  using F = typename V::F;
  using I = typename V::I;

  constexpr explicit FloatRounding(const formats::Element& element) noexcept
      : high_(V::set(element.max)),
        smallest_normal_(V::set(formats::power_of_two(element.min_exponent))),
        steps_(V::set(formats::power_of_two(formats::kFloatMantissaBits - element.mantissa_bits))),
        sign_bit_(V::set(-0.0f)),
        exponent_bits_(V::from_bits(V::set_int(formats::kFloatInfinityBits))),
        field_shift_(formats::kFloatMantissaBits - element.mantissa_bits),
        sign_shift_(32 - element.bits) {}

  constexpr F operator()(F y) const noexcept {
    const F magnitude = limited(y);
    const F constant = V::mul(octave(magnitude), steps_);
    const F rounded = V::sub(V::add(magnitude, constant), constant);
    return V::bit_or(rounded, V::bit_and(y, sign_bit_));
  }

  constexpr I code(F y) const noexcept {
    const F magnitude = limited(y);
    const F top = octave(magnitude);
    const F constant = V::mul(top, steps_);
    const I steps = V::int_sub(V::bits(V::add(magnitude, constant)), V::bits(constant));
    const I octaves = V::int_sub(V::bits(top), V::bits(smallest_normal_));
    const I field = V::int_add(V::int_shift_right(octaves, field_shift_), steps);
    const I sign = V::int_shift_right(V::bits(V::bit_and(y, sign_bit_)), sign_shift_);
    return V::int_or(field, sign);
  }

 private:
  constexpr F limited(F y) const noexcept { return V::min(V::bit_andnot(sign_bit_, y), high_); }
  constexpr F octave(F magnitude) const noexcept {
    return V::max(V::bit_and(magnitude, exponent_bits_), smallest_normal_);
  }

  F high_, smallest_normal_, steps_, sign_bit_, exponent_bits_;
  int field_shift_, sign_shift_;
};

}  // namespace driftless::quant
