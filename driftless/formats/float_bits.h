// SPDX-License-Identifier: Apache-2.0
// Float32 taken apart and put together by its bits, so that no result hangs on a math library.
#pragma once

#include <bit>
#include <cstdint>

namespace driftless::formats {

inline constexpr int kFloatMantissaBits = 23;
inline constexpr uint32_t kFloatSignBit = 0x80000000u;
inline constexpr uint32_t kFloatInfinityBits = 0x7f800000u;

/// std::max, std::min and std::clamp by value: those bind references, and CUDA code has no address
/// of a constant that lives on the host.
template <class T>
constexpr T larger(T a, T b) noexcept {
  return a < b ? b : a;
}
template <class T>
constexpr T smaller(T a, T b) noexcept {
  return b < a ? b : a;
}
template <class T>
constexpr T limited(T value, T low, T high) noexcept {
  return smaller(larger(value, low), high);
}

constexpr uint32_t magnitude_bits(float value) noexcept {
  return std::bit_cast<uint32_t>(value) & ~kFloatSignBit;
}

constexpr bool is_negative(float value) noexcept {
  return (std::bit_cast<uint32_t>(value) & kFloatSignBit) != 0;
}

/// |value| = significand * 2^(exponent - 23). Subnormals keep exponent -126 and a significand below
/// 2^23. Requires a finite value.
struct Parts {
  uint32_t significand;
  int exponent;
};

constexpr Parts parts_of(float value) noexcept {
  const uint32_t magnitude = magnitude_bits(value);
  const uint32_t field = magnitude >> kFloatMantissaBits;
  const uint32_t fraction = magnitude & 0x007fffffu;
  if (field == 0) return {fraction, -126};
  return {fraction | 0x00800000u, static_cast<int>(field) - 127};
}

/// value = (1 + fraction / 2^23) * 2^exponent with fraction in [0, 2^23), also for subnormal input.
/// Requires a finite value above zero.
struct Octave {
  int exponent;
  uint32_t fraction;
};

constexpr Octave octave_of(float value) noexcept {
  // The bits of a subnormal count units of 2^-149; as a float that count is normal and exact.
  const uint32_t bits = magnitude_bits(value);
  const bool is_subnormal = bits < 0x00800000u;
  const auto [significand, exponent] = parts_of(is_subnormal ? static_cast<float>(bits) : value);
  return {exponent - (is_subnormal ? 149 : 0), significand & 0x007fffffu};
}

/// 2^exponent for exponents -149 to 127.
constexpr float power_of_two(int exponent) noexcept {
  if (exponent < -126) return std::bit_cast<float>(1u << (exponent + 149));
  return std::bit_cast<float>(static_cast<uint32_t>(exponent + 127) << kFloatMantissaBits);
}

/// The next float towards zero. Requires a finite value above zero.
constexpr float next_below(float value) noexcept {
  return std::bit_cast<float>(std::bit_cast<uint32_t>(value) - 1);
}

/// value / 2^shift, rounded to nearest with ties to even. Requires value < 2^31 and shift >= 0.
constexpr uint32_t shift_right_to_even(uint32_t value, int shift) noexcept {
  if (shift == 0) return value;
  if (shift > 31) return 0;
  const uint32_t whole = value >> shift;
  const uint32_t rest = value & ((1u << shift) - 1);
  const uint32_t half = 1u << (shift - 1);
  const bool up = rest > half || (rest == half && (whole & 1) != 0);
  return whole + (up ? 1 : 0);
}

}  // namespace driftless::formats
