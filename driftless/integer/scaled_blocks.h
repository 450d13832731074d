// SPDX-License-Identifier: Apache-2.0
// Activations in blocks with scale= as rows of a product: codes and scale codes block by block, and
// once a row is complete its integers: bytes and shifts, which the unit makes values
// (quant/scale/window.h).
#pragma once

#include <cstdint>

#include "driftless/integer/kernels/kernel_set.h"
#include "driftless/quant/spec.h"

namespace driftless::integer {

/// Throws Unsupported where a scale has more than 8 bits.
void require_code_scales(const quant::QuantSpec& spec);

/// Whether the set has encoders for such blocks.
bool knows_scaled_blocks(const quant::QuantSpec& spec, const KernelSet& set) noexcept;

/// A row of k values: codes as signed bytes, and a scale code a block. Returns the first block that
/// holds a value that is not finite, or quant::kAllFinite.
int64_t encode_scaled_blocks(const quant::QuantSpec& spec, const float* values, int64_t k,
                             uint8_t* codes, uint8_t* scales) noexcept;

struct ScaledRow {
  uint8_t* codes;
  int64_t blocks;
  uint8_t* scales;  ///< codes, which end as the blocks' shifts
};
/// Who finishes it; without encoders that is the scalar truth.
struct RowFinish {
  const quant::QuantSpec& spec;
  const KernelSet& set;
  const Encoders* encoders;
};
/// Turns the codes of a row into its integers, flipped as the set wants them, and returns the unit.
float finish_scaled_row(const RowFinish& finish, const ScaledRow& row) noexcept;

}  // namespace driftless::integer
