// SPDX-License-Identifier: Apache-2.0
// The window rule of mx formats: with T the largest exponent of a row's blocks, a block whose
// exponent lies below T - window is quantized again, from its decoded values, with that exponent.
// Rounding a second time, rather than the first values anew, makes the rule one on codes: a kernel
// can quantize each block where it arises and apply the window when the row is complete.
//
// Blocks with scale= have a window of another kind, which keeps codes and scales: with E the octave
// of the row's largest scale, decoded values are rounded to multiples of the unit 2^(E - 3 -
// window), to nearest, ties to even. A row is integers times one power of two then, of magnitude
// below 16 * 2^window times the largest code's: four-bit codes with window 0 are bytes. Scales of
// three fraction bits in the uppermost octave are not rounded.
#pragma once

#include <cstdint>
#include <span>

#include "driftless/quant/quantizer.h"
#include "driftless/quant/spec.h"

namespace driftless::quant {

/// The least scale code the window allows in a row with these scale codes; 0 without a window.
uint8_t window_floor(const QuantSpec& spec, std::span<const uint8_t> scales) noexcept;

/// Applies the rule to one row of codes and its e8m0 scale codes.
void limit_to_window(const QuantSpec& spec, std::span<uint8_t> codes,
                     std::span<uint8_t> scales) noexcept;

/// The unit of a row whose blocks have these scales. Requires scale= and a window.
float row_unit(const QuantSpec& spec, std::span<const Scale> scales) noexcept;

/// Rounds values to multiples of a unit, of which no value holds 2^22.
void round_to_unit(float unit, std::span<float> values) noexcept;

/// The integers that a matrix of blocks with scale= and a window comes to, as int8_full codes with
/// the rows' units as scales. Throws Unsupported where integers may not fit a byte.
QuantizedMatrix integer_rows(const QuantizedMatrix& matrix);

/// Whether the integers of a row fit bytes. Requires scale=.
bool has_byte_rows(const QuantSpec& spec) noexcept;

}  // namespace driftless::quant
