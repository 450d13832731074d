// SPDX-License-Identifier: Apache-2.0
// What the rest of the project needs to know of an element format: its two scalar functions, which
// are the truth about it, and the few numbers that tables, scale rules and vector code derive from.
#pragma once

#include <cstdint>
#include <string_view>

namespace driftless::formats {

/// How the values of an element format lie on the real line.
enum class Spacing : uint8_t {
  /// In the octave [2^e, 2^(e+1)) the step is 2^(max(e, min_exponent) - mantissa_bits), up to max.
  /// Minifloats and integers both are such grids, and the vector kernels know how to round to one.
  Grid,
  /// Anything else: quantized by the scalar functions alone.
  Irregular,
};

/// Which zeros the format can store.
enum class ZeroSign : uint8_t { Kept, Dropped };

/// How a code of `bits` bits is widened to a byte: by zeros, or by its sign (two's complement).
enum class CodeSign : uint8_t { Unsigned, TwosComplement };

struct Element {
  /// The code of a value that is not NaN: nearest, ties to the even code, saturating, infinities
  /// too. Fills `bits` bits.
  uint16_t (*encode)(float value) noexcept;
  /// The value of a code. Bits above `bits` must be zero.
  float (*decode)(uint16_t code) noexcept;

  int bits;
  int mantissa_bits;
  int min_exponent;  ///< of the smallest normal value; below it steps stop shrinking
  int max_exponent;  ///< of the largest value
  float max;         ///< largest finite value
  float min;         ///< lowest finite value
  float smallest;    ///< smallest positive value, subnormals included
  Spacing spacing;
  ZeroSign zero_sign;
  CodeSign code_sign;
  std::string_view specials;  ///< codes that are no number, in words; empty if there are none
};

}  // namespace driftless::formats
