// SPDX-License-Identifier: Apache-2.0
// Stochastic rounding: up or down by a draw, so that the mean over draws is the value itself. For
// what is stored and read again many times, where rounding to nearest would lose small changes.
#pragma once

#include "driftless/formats/minifloat.h"

namespace driftless::formats {

/// The bf16 code that a draw of 16 uniform bits gives a value: the neighbour below in magnitude, or
/// the one above with the probability that makes the mean exact. Values of bf16 keep their code.
/// Saturates like Bf16::encode, and requires a finite value, too.
constexpr uint16_t encode_bf16_stochastic(float value, uint16_t draw) noexcept {
  // The upper half of a float32 is its bf16, and counting on carries into the exponent.
  const uint32_t code = smaller((magnitude_bits(value) + draw) >> 16, Bf16::kMaxCode);
  return static_cast<uint16_t>(is_negative(value) ? code | Bf16::kSignBit : code);
}

}  // namespace driftless::formats
