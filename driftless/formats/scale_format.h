// SPDX-License-Identifier: Apache-2.0
// Block scales with fractions: what a block of an element format stores beside its codes instead of
// a float. Scales are not zero and have no NaN; but for s4m3 they are positive. Encoding rounds to
// nearest, ties to the even code, and saturates at both ends.
//
//   e5m3   (8 + m) * 2^(e - 18)    2^-15 ... 122880     an octave in 8 steps
//   e4m4   (16 + m) * 2^(e - 15)   2^-11 ... 31         an octave in 16 steps
//   fp16   IEEE binary16, codes 1 (2^-24) to 0x7bff (65504)
//   s4m3   a sign, then (8 + m) * 2^(e - 13)   2^-10 ... 60
//
// s4m3 is for integers with the lowest code, such as int4_full: its sign is chosen so that the
// largest magnitude of a block becomes that code, of which there is no positive one.
//
// e5m3 and e4m4 are unsigned bytes, exponent above mantissa, and have no subnormals: every scale is
// m * 2^e with m of full length, so that a code of int4 times the m of e5m3 (8 to 15) fits a signed
// byte. From code 8 on e5m3 reads like a float of bias 15.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "driftless/formats/element.h"
#include "driftless/formats/float_bits.h"
#include "driftless/formats/minifloat.h"

namespace driftless::formats {

template <int ExponentBits, int MantissaBits, int Bias>
struct UnsignedFloat {
  static constexpr uint16_t kMaxCode = (1u << (ExponentBits + MantissaBits)) - 1;

  static constexpr uint16_t encode(float value) noexcept {
    if (!(value > 0)) return 0;
    const auto [exponent, fraction] = octave_of(value);
    if (exponent < -Bias) return 0;
    if (exponent > static_cast<int>(kMaxCode >> MantissaBits) - Bias) return kMaxCode;
    // A carry out of the mantissa moves into the exponent by itself.
    const uint32_t steps = shift_right_to_even(fraction, kFloatMantissaBits - MantissaBits);
    const auto octaves = static_cast<uint32_t>(exponent + Bias);
    return static_cast<uint16_t>(smaller<uint32_t>((octaves << MantissaBits) + steps, kMaxCode));
  }

  static constexpr float decode(uint16_t code) noexcept {
    const uint32_t steps = code & ((1u << MantissaBits) - 1);
    const int exponent = static_cast<int>(code >> MantissaBits) - Bias;
    return static_cast<float>((1u << MantissaBits) + steps) * power_of_two(exponent - MantissaBits);
  }

  static constexpr Element element() noexcept {
    return {.encode = encode,
            .decode = decode,
            .bits = ExponentBits + MantissaBits,
            .mantissa_bits = MantissaBits,
            .min_exponent = -Bias,
            .max_exponent = static_cast<int>(kMaxCode >> MantissaBits) - Bias,
            .max = decode(kMaxCode),
            .min = decode(0),
            .smallest = decode(0),
            .spacing = Spacing::Irregular,
            .zero_sign = ZeroSign::Dropped,
            .code_sign = CodeSign::Unsigned,
            .specials = "no zero"};
  }
};

using E5m3u = UnsignedFloat<5, 3, 15>;
using E4m4u = UnsignedFloat<4, 4, 11>;
using E4m3u = UnsignedFloat<4, 3, 10>;

/// E4m3u below a sign.
struct S4m3 {
  static constexpr uint16_t kSign = 0x80;
  static constexpr uint16_t encode(float value) noexcept {
    const uint16_t magnitude = E4m3u::encode(value < 0 ? -value : value);
    return static_cast<uint16_t>(magnitude | (value < 0 ? kSign : 0));
  }
  static constexpr float decode(uint16_t code) noexcept {
    const float magnitude = E4m3u::decode(code & (kSign - 1));
    return (code & kSign) != 0 ? -magnitude : magnitude;
  }
};

/// How the scale of a group is stored.
enum class ScaleFormat : uint8_t { Float32, E5m3, E4m4, Float16, S4m3 };

/// Whether scales have a sign, for the formats with the lowest code.
constexpr bool is_signed(ScaleFormat format) noexcept { return format == ScaleFormat::S4m3; }

/// Whether an element format can be given such scales.
constexpr bool suits(ScaleFormat format, const Element& element) noexcept {
  return !is_signed(format) || -element.min > element.max;
}

struct ScaleFormatName {
  ScaleFormat value;
  std::string_view name;
};
/// Those that blocks can be given, so all but Float32.
std::span<const ScaleFormatName> scale_formats() noexcept;

constexpr int scale_bits(ScaleFormat format) noexcept {
  return format == ScaleFormat::Float32 ? 32 : format == ScaleFormat::Float16 ? 16 : 8;
}

/// How many fraction bits scales have within an octave.
constexpr int fraction_bits(ScaleFormat format) noexcept {
  if (format == ScaleFormat::Float32) return kFloatMantissaBits;
  if (format == ScaleFormat::Float16) return Fp16::element({}).mantissa_bits;
  return format == ScaleFormat::E4m4 ? E4m4u::element().mantissa_bits
                                     : E5m3u::element().mantissa_bits;
}

/// The code of a scale; requires another format than Float32.
constexpr uint16_t encode_scale(ScaleFormat format, float scale) noexcept {
  if (format == ScaleFormat::E5m3) return E5m3u::encode(scale);
  if (format == ScaleFormat::E4m4) return E4m4u::encode(scale);
  if (format == ScaleFormat::S4m3) return S4m3::encode(scale);
  return larger<uint16_t>(Fp16::encode(scale), 1);
}

constexpr float decode_scale(ScaleFormat format, uint16_t code) noexcept {
  if (format == ScaleFormat::E5m3) return E5m3u::decode(code);
  if (format == ScaleFormat::E4m4) return E4m4u::decode(code);
  if (format == ScaleFormat::S4m3) return S4m3::decode(code);
  return Fp16::decode(code);
}

/// Whether a code read from a file is a scale.
constexpr bool is_scale_code(ScaleFormat format, uint16_t code) noexcept {
  return format != ScaleFormat::Float16 || (code > 0 && code <= Fp16::kMaxCode);
}

/// Which of the two neighbors a scale becomes.
enum class ScaleRounding : uint8_t {
  Nearest,
  Up,  ///< never below the scale, unless that is beyond the largest: nothing is clipped
};

struct ScaleRule {
  ScaleFormat format = ScaleFormat::Float32;
  ScaleRounding rounding = ScaleRounding::Nearest;
};

/// The codes of positive scales.
struct ScaleCodes {
  uint16_t lowest;
  uint16_t highest;
};
constexpr ScaleCodes positive_codes(ScaleFormat format) noexcept {
  if (format == ScaleFormat::Float16) return {1, static_cast<uint16_t>(Fp16::kMaxCode)};
  if (format == ScaleFormat::S4m3) return {0, E4m3u::kMaxCode};
  return {0, 255};
}

/// The scale that the rule makes of a positive normal one.
constexpr float round_scale(const ScaleRule& rule, float scale) noexcept {
  if (rule.format == ScaleFormat::Float32) return scale;
  const uint16_t code = encode_scale(rule.format, scale);
  const float nearest = decode_scale(rule.format, code);
  if (rule.rounding == ScaleRounding::Nearest || nearest >= scale) return nearest;
  if (code >= positive_codes(rule.format).highest) return nearest;
  return decode_scale(rule.format, static_cast<uint16_t>(code + 1));
}

/// What multiplies the scale of values of `low` to `high`: -1 where the format has a sign and the
/// largest magnitude is that of the highest one.
constexpr float scale_sign(ScaleFormat format, float low, float high) noexcept {
  return is_signed(format) && high > -low ? -1.0f : 1.0f;
}

/// What the mse rule tries after the nearest scale, in eighths of an octave and in this order.
inline constexpr int kScaleSteps[] = {1, -1, -2, -3, -4};

/// The scale that many eighths of an octave from the code of `scale`, positive, kept within the
/// format.
constexpr float step_scale(ScaleFormat format, float scale, int eighths) noexcept {
  const int per_eighth = format == ScaleFormat::Float16 ? 128 : format == ScaleFormat::E4m4 ? 2 : 1;
  const auto [lowest, highest] = positive_codes(format);
  const int code = encode_scale(format, scale) + per_eighth * eighths;
  return decode_scale(format, static_cast<uint16_t>(limited<int>(code, lowest, highest)));
}

}  // namespace driftless::formats
