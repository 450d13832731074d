// SPDX-License-Identifier: Apache-2.0
// The window rule of mx formats: with T the largest exponent of a row's blocks, a block whose
// exponent lies below T - window is quantized again, from its decoded values, with that exponent.
// Rounding a second time, rather than the first values anew, makes the rule one on codes: a kernel
// can quantize each block where it arises and apply the window when the row is complete.
//
// Blocks with scale= have a window of another kind, which keeps codes and scales: with E the octave
// of the row's largest scale, decoded values are rounded to multiples of the unit 2^(E - 3 -
// window), to nearest, ties to even. A row is integers times one power of two then, of magnitude
// below 16 * 2^window times the largest code's. Four-bit codes with window 0 are bytes. With a
// wider one they are bytes times powers of two, a shift a block: a code times the 8 to 15 of a
// scale with three fraction bits is a signed byte, exactly, as long as the block's octave lies at
// most `window` below the row's.
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

/// What has integer rows, for messages.
inline constexpr const char* kSuitsIntegers =
    "at most four bits and window=0, or a scale of three fraction bits such as e5m3 and a window";

/// Whether the integers of a row are signed bytes, each block's times a power of two. Requires
/// scale=.
bool has_integer_rows(const QuantSpec& spec) noexcept;

/// The largest of those powers, as a shift; 0 where a row's integers are bytes. Requires
/// has_integer_rows().
int64_t integer_window(const QuantSpec& spec) noexcept;

/// The shift of a block with such a scale in a row with such a unit.
int block_shift(const QuantSpec& spec, float scale, float unit) noexcept;

/// The integers that a matrix of blocks with scale= and a window comes to: int8_full codes with the
/// rows' units as scales where they are bytes, else mxint8 blocks with integer_window(). Throws
/// Unsupported where a block's bytes would not be exact.
QuantizedMatrix integer_rows(const QuantizedMatrix& matrix);

}  // namespace driftless::quant
