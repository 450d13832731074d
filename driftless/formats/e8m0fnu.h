// SPDX-License-Identifier: Apache-2.0
// Block scales: 2^(code - 127), codes 0 to 254; 255 is NaN. No sign, no zero, no infinity. Encoding
// rounds to the nearest power of two, ties to the even code, and saturates; values of zero and
// below become the smallest scale.
#pragma once

#include <algorithm>

#include "driftless/formats/element.h"
#include "driftless/formats/float_bits.h"

namespace driftless::formats {

struct E8m0fnu {
  static constexpr int kBias = 127;
  static constexpr int kMinExponent = -127;
  static constexpr int kMaxExponent = 127;
  static constexpr uint16_t kNan = 255;

  static constexpr uint16_t encode(float value) noexcept {
    if (!(value > 0)) return 0;
    const auto [exponent, fraction] = octave_of(value);
    constexpr uint32_t kHalf = 0x00400000u;
    const bool odd = ((exponent + kBias) & 1) != 0;
    const bool up = fraction > kHalf || (fraction == kHalf && odd);
    return code_of_exponent(exponent + (up ? 1 : 0));
  }

  static constexpr float decode(uint16_t code) noexcept {
    if (code == kNan) return std::bit_cast<float>(0x7fc00000u);
    return power_of_two(exponent_of_code(code));
  }

  static constexpr uint16_t code_of_exponent(int exponent) noexcept {
    return static_cast<uint16_t>(std::clamp(exponent, kMinExponent, kMaxExponent) + kBias);
  }

  static constexpr int exponent_of_code(uint16_t code) noexcept {
    return static_cast<int>(code) - kBias;
  }

  static constexpr Element element() noexcept {
    return {.encode = encode,
            .decode = decode,
            .bits = 8,
            .mantissa_bits = 0,
            .min_exponent = kMinExponent,
            .max_exponent = kMaxExponent,
            .max = power_of_two(kMaxExponent),
            .min = power_of_two(kMinExponent),
            .smallest = power_of_two(kMinExponent),
            .spacing = Spacing::Irregular,
            .zero_sign = ZeroSign::Dropped,
            .code_sign = CodeSign::Unsigned,
            .specials = "0xff is NaN; no zero"};
  }
};

}  // namespace driftless::formats
