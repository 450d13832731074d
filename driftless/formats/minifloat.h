// SPDX-License-Identifier: Apache-2.0
// Small floating-point formats: one sign bit, ExponentBits, MantissaBits, subnormals kept, signed
// zero kept, round to nearest even, saturating. Code layout from the top: sign, exponent, mantissa.
#pragma once

#include "driftless/formats/element.h"
#include "driftless/formats/float_bits.h"

namespace driftless::formats {

/// Which codes of the top exponent are no finite number.
enum class Specials : uint8_t {
  None,     ///< all codes are finite (the "fn" formats of 4 and 6 bits)
  NanOnly,  ///< all exponent and mantissa bits set is NaN (e4m3fn)
  Ieee,     ///< the top exponent holds infinity and NaN
};

template <int ExponentBits, int MantissaBits, int Bias, Specials kSpecials>
struct Minifloat {
  static constexpr int kBits = 1 + ExponentBits + MantissaBits;
  static constexpr int kMinExponent = 1 - Bias;
  static constexpr uint32_t kSignBit = 1u << (kBits - 1);
  static constexpr uint32_t kTopCode = kSignBit - 1;
  static constexpr uint32_t kInfinityCode = kSignBit - (1u << MantissaBits);
  static constexpr uint32_t kMaxCode = kSpecials == Specials::None      ? kTopCode
                                       : kSpecials == Specials::NanOnly ? kTopCode - 1
                                                                        : kInfinityCode - 1;
  static constexpr int kMaxExponent = static_cast<int>(kMaxCode >> MantissaBits) - Bias;

  static constexpr uint16_t encode(float value) noexcept {
    const auto [significand, exponent] = parts_of(value);
    const int octave = larger(exponent, kMinExponent);
    const int shift = kFloatMantissaBits - MantissaBits + octave - exponent;
    // Steps of the octave; 2^MantissaBits of them carry into the exponent field by themselves.
    const uint32_t steps = shift_right_to_even(significand, shift);
    const uint32_t octaves = static_cast<uint32_t>(octave - kMinExponent);
    const uint32_t code = smaller((octaves << MantissaBits) + steps, kMaxCode);
    return static_cast<uint16_t>(is_negative(value) ? code | kSignBit : code);
  }

  static constexpr float decode(uint16_t code) noexcept {
    const uint32_t magnitude = code & kTopCode;
    const uint32_t sign = (code & kSignBit) != 0 ? kFloatSignBit : 0;
    return std::bit_cast<float>(std::bit_cast<uint32_t>(decode_magnitude(magnitude)) | sign);
  }

  static constexpr Element element(std::string_view specials) noexcept {
    const float max = decode_magnitude(kMaxCode);
    return {.encode = encode,
            .decode = decode,
            .bits = kBits,
            .mantissa_bits = MantissaBits,
            .min_exponent = kMinExponent,
            .max_exponent = kMaxExponent,
            .max = max,
            .min = -max,
            .smallest = decode_magnitude(1),
            .spacing = Spacing::Grid,
            .zero_sign = ZeroSign::Kept,
            .code_sign = CodeSign::Unsigned,
            .specials = specials};
  }

 private:
  static constexpr float decode_magnitude(uint32_t magnitude) noexcept {
    if (magnitude > kMaxCode) {
      const bool is_infinity = kSpecials == Specials::Ieee && magnitude == kInfinityCode;
      return std::bit_cast<float>(is_infinity ? kFloatInfinityBits : 0x7fc00000u);
    }
    const uint32_t field = magnitude >> MantissaBits;
    const uint32_t fraction = magnitude & ((1u << MantissaBits) - 1);
    const uint32_t significand = field == 0 ? fraction : fraction | (1u << MantissaBits);
    const int exponent = larger(static_cast<int>(field) - Bias, kMinExponent);
    return static_cast<float>(significand) * power_of_two(exponent - MantissaBits);
  }
};

using E2m1fn = Minifloat<2, 1, 1, Specials::None>;
using E2m3fn = Minifloat<2, 3, 1, Specials::None>;
using E3m2fn = Minifloat<3, 2, 3, Specials::None>;
using E4m3fn = Minifloat<4, 3, 7, Specials::NanOnly>;
using E5m2 = Minifloat<5, 2, 15, Specials::Ieee>;
using Fp16 = Minifloat<5, 10, 15, Specials::Ieee>;
using Bf16 = Minifloat<8, 7, 127, Specials::Ieee>;

}  // namespace driftless::formats
