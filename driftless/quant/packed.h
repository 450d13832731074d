// SPDX-License-Identifier: Apache-2.0
// Codes in as few bits as they have. The codes of a row are cut into blocks (block formats) or
// taken whole (element formats); each stretch starts on a byte and stores code i in its bits [i *
// bits, (i + 1) * bits), counted from the low bit of the first byte. So 4-bit codes lie two a byte,
// the even one in the low half:
//
//   byte 0: code 1 | code 0    byte 1: code 3 | code 2    ...    16 bytes for a block of 32
//
// A short last block is padded with zero codes to a whole one; rows and cols keep the true shape.
// Scales stay in their own array, one byte a block: 4.25 bits an element for mxint4.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "driftless/quant/quantizer.h"

namespace driftless::quant {

struct PackedMatrix {
  QuantSpec spec;
  int64_t rows = 0;
  int64_t cols = 0;
  RunScales scales{};
  std::vector<uint8_t> bytes{};
};

/// Bytes that one row of cols codes takes.
int64_t packed_row_bytes(const QuantSpec& spec, int64_t cols);

PackedMatrix pack(const QuantizedMatrix& matrix);

/// Throws BadFile when the number of bytes or scales does not suit the shape, or a code that pads a
/// row is not zero.
QuantizedMatrix unpack(const PackedMatrix& packed);

/// The bit layout above for one stretch of codes of 1 to 8 bits.
void pack_bits(std::span<const uint8_t> codes, int bits, std::span<uint8_t> bytes);
void unpack_bits(std::span<const uint8_t> bytes, int bits, std::span<uint8_t> codes);

}  // namespace driftless::quant
