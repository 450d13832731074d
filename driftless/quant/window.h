// SPDX-License-Identifier: Apache-2.0
// The window rule of mx formats: with T the largest exponent of a row's blocks, a block whose
// exponent lies below T - window is quantized again, from its decoded values, with that exponent.
// Rounding a second time, rather than the first values anew, makes the rule one on codes: a kernel
// can quantize each block where it arises and apply the window when the row is complete.
#pragma once

#include <cstdint>
#include <span>

#include "driftless/quant/spec.h"

namespace driftless::quant {

/// The least scale code the window allows in a row with these scale codes; 0 without a window.
uint8_t window_floor(const QuantSpec& spec, std::span<const uint8_t> scales) noexcept;

/// Applies the rule to one row of codes and its e8m0 scale codes.
void limit_to_window(const QuantSpec& spec, std::span<uint8_t> codes,
                     std::span<uint8_t> scales) noexcept;

}  // namespace driftless::quant
