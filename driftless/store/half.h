// SPDX-License-Identifier: Apache-2.0
// IEEE binary16 and bfloat16 as bit patterns. Encoding rounds to nearest, ties to even; values
// beyond the largest finite one become infinity; NaN stays a quiet NaN.
#pragma once

#include <cstdint>

namespace driftless::store {

float decode_f16(uint16_t bits) noexcept;
uint16_t encode_f16(float value) noexcept;
float decode_bf16(uint16_t bits) noexcept;
uint16_t encode_bf16(float value) noexcept;

}  // namespace driftless::store
