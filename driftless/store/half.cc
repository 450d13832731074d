// SPDX-License-Identifier: Apache-2.0
#include "driftless/store/half.h"

#include <bit>
#include <cmath>

namespace driftless::store {
namespace {

constexpr uint32_t kF16Infinity = 0x7c00;
constexpr uint32_t kF16QuietNan = 0x7e00;

/// `value >> shift`, rounded to nearest, ties to even. Requires 1 <= shift <= 31.
uint32_t shift_right_rounded(uint32_t value, uint32_t shift) noexcept {
  const uint32_t half = 1u << (shift - 1);
  const uint32_t is_odd = (value >> shift) & 1u;
  return (value + (half - 1) + is_odd) >> shift;
}

}  // namespace

float decode_f16(uint16_t bits) noexcept {
  const uint32_t sign = (bits & 0x8000u) << 16;
  const uint32_t exponent = (bits >> 10) & 31u;
  const uint32_t mantissa = bits & 0x3ffu;
  if (exponent == 0) {
    const float magnitude = std::ldexp(static_cast<float>(mantissa), -24);
    return sign != 0 ? -magnitude : magnitude;
  }
  const uint32_t wide = exponent == 31 ? 255u : exponent + 112u;
  return std::bit_cast<float>(sign | (wide << 23) | (mantissa << 13));
}

uint16_t encode_f16(float value) noexcept {
  const auto bits = std::bit_cast<uint32_t>(value);
  const uint32_t sign = (bits >> 16) & 0x8000u;
  const uint32_t magnitude = bits & 0x7fffffffu;
  uint32_t code = 0;
  if (magnitude > 0x7f800000u) {
    code = kF16QuietNan;
  } else if (magnitude >= 0x38800000u) {  // 2^-14, the smallest normal
    // Rebias the exponent; a carry out of the mantissa moves into it, up to infinity.
    code = shift_right_rounded(magnitude - (112u << 23), 13);
    if (code > kF16Infinity) code = kF16Infinity;
  } else if (magnitude >= 0x33000000u) {  // 2^-25, half the smallest subnormal
    const uint32_t exponent = magnitude >> 23;
    const uint32_t mantissa = (magnitude & 0x7fffffu) | 0x800000u;
    code = shift_right_rounded(mantissa, 126u - exponent);
  }
  return static_cast<uint16_t>(sign | code);
}

float decode_bf16(uint16_t bits) noexcept {
  return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
}

uint16_t encode_bf16(float value) noexcept {
  const auto bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return static_cast<uint16_t>((bits >> 16) | 0x40u);
  return static_cast<uint16_t>(shift_right_rounded(bits, 16));
}

}  // namespace driftless::store
