// SPDX-License-Identifier: Apache-2.0
// How everything that multiplies whole tiles sets up AMX: all eight registers have 16 rows of 64
// bytes.
#pragma once

#include <cstdint>

namespace driftless::integer {

struct alignas(64) AmxConfig {
  uint8_t palette = 1;
  uint8_t start_row = 0;
  uint8_t reserved[14] = {};
  uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};
constexpr AmxConfig kAmxConfig;

}  // namespace driftless::integer
