// SPDX-License-Identifier: Apache-2.0
// Integers of 2 to 8 bits, with the binary point where FractionBits puts it: plain integers have
// none, the elements of MX blocks have Bits - 2 (one sign and one integer bit, as in OCP's MXINT8).
// Round to nearest even, saturating. Codes are two's complement, or unsigned for Range::Unsigned.
#pragma once

#include <algorithm>

#include "driftless/formats/element.h"
#include "driftless/formats/float_bits.h"

namespace driftless::formats {

enum class Range : uint8_t {
  Narrow,    ///< -(2^(b-1) - 1) to 2^(b-1) - 1: symmetric, the lowest code stays unused
  Full,      ///< -2^(b-1) to 2^(b-1) - 1
  Unsigned,  ///< 0 to 2^b - 1: the codes of asymmetric quantizers
};

template <int Bits, Range kRange, int FractionBits = 0>
struct Integer {
  static constexpr int32_t kMax =
      kRange == Range::Unsigned ? (1 << Bits) - 1 : (1 << (Bits - 1)) - 1;
  static constexpr int32_t kMin = kRange == Range::Unsigned ? 0
                                  : kRange == Range::Narrow ? -kMax
                                                            : -kMax - 1;
  static constexpr uint32_t kMask = (1u << Bits) - 1;

  static constexpr uint16_t encode(float value) noexcept {
    return static_cast<uint16_t>(static_cast<uint32_t>(round(value)) & kMask);
  }

  static constexpr float decode(uint16_t code) noexcept {
    const bool wraps = kRange != Range::Unsigned && (code >> (Bits - 1)) != 0;
    const int32_t whole = static_cast<int32_t>(code) - (wraps ? 1 << Bits : 0);
    return static_cast<float>(whole) * power_of_two(-FractionBits);
  }

  static constexpr Element element() noexcept {
    const float max = static_cast<float>(kMax) * power_of_two(-FractionBits);
    const int max_exponent = octave_of(max).exponent;
    // One octave spans the whole range, so the step is the same everywhere.
    const int top = std::max(max_exponent, kRange == Range::Full ? Bits - 1 - FractionBits : 0);
    return {.encode = encode,
            .decode = decode,
            .bits = Bits,
            .mantissa_bits = top + FractionBits,
            .min_exponent = top,
            .max_exponent = max_exponent,
            .max = max,
            .min = static_cast<float>(kMin) * power_of_two(-FractionBits),
            .smallest = power_of_two(-FractionBits),
            .spacing = Spacing::Grid,
            .zero_sign = ZeroSign::Dropped,
            .code_sign = kRange == Range::Unsigned ? CodeSign::Unsigned : CodeSign::TwosComplement,
            .specials = {}};
  }

 private:
  /// The nearest integer to value * 2^FractionBits within the range.
  static constexpr int32_t round(float value) noexcept {
    const auto [significand, exponent] = parts_of(value);
    const int shift = kFloatMantissaBits - FractionBits - exponent;
    // A magnitude of 2^Bits or more saturates every range.
    const uint32_t magnitude =
        shift <= kFloatMantissaBits - Bits ? 1u << Bits : shift_right_to_even(significand, shift);
    const int32_t whole = static_cast<int32_t>(magnitude);
    return std::clamp(is_negative(value) ? -whole : whole, kMin, kMax);
  }
};

}  // namespace driftless::formats
