// SPDX-License-Identifier: Apache-2.0
// A plain byte form of quantized values, for files and for comparison with other implementations:
//
//   element formats   one byte a value, or two, low byte first, for formats of 16 bits
//   block formats     per block the scale byte (fp16: two, low byte first), then one byte a value;
//   a
//                     short last block is padded with zeros
//   two-level ones    the tensor scale as a little-endian float32 first, then as block formats
//
// Codes of signed integers are two's complement bytes (-3 is 0xfd); all others have zeros above.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "driftless/quant/spec.h"

namespace driftless::quant {

/// The spec that a format name means here: an element format cast without a scale, or a block
/// format with its options (mxint4,rule=mse,block=16 or int4/block32,scale=e5m3). Throws
/// InvalidArgument.
QuantSpec parse_codec_spec(std::string_view text);

/// Element formats are cast without a scale; block formats use spec.rule and spec.group. Throws
/// Numeric that names the first value that is not finite.
std::vector<std::byte> encode_bytes(const QuantSpec& spec, std::span<const float> values);

/// The values, padding included. Throws BadFile when the size does not suit the format, when a byte
/// is no code of it, or when a code, a scale or their product is not a finite number.
std::vector<float> decode_bytes(const QuantSpec& spec, std::span<const std::byte> bytes);

}  // namespace driftless::quant
