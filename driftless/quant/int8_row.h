// SPDX-License-Identifier: Apache-2.0
// A row of int8 codes under one scale: what Quantizer("int8/token") gives for one row, without
// memory of its own.
#pragma once

#include <cstdint>
#include <span>

namespace driftless::quant {

/// code = x / s to the nearest integer, ties to even, with s the largest magnitude / 127, at least
/// 2^-126; codes lie within -127 ... 127. Returns s, or 0, with the codes unspecified, when a value
/// is not finite. Requires as many codes as values.
float encode_int8_row(std::span<const float> values, std::span<int8_t> codes) noexcept;

}  // namespace driftless::quant
