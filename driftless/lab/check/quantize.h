// SPDX-License-Identifier: Apache-2.0
// Whether the device quantizes as the CPU does, bit for bit, and how fast.
#pragma once

#include <cstdint>
#include <vector>

#include "driftless/lab/check/kit.h"
#include "driftless/quant/quantizer.h"

namespace driftless::lab {

/// Every format of the table at every granularity, with every exponent rule and calibration, blocks
/// of several lengths, windows, and static scales for matrices of `rows` rows.
std::vector<quant::Quantizer> every_quantizer(int64_t rows);

/// Values and masks of every quantizer on awkward values, lying in rows and in columns; the refusal
/// of NaN; and, on CUDA, what the block kernels take in units of a copy.
void check_quantize(CheckKit& kit);

}  // namespace driftless::lab
