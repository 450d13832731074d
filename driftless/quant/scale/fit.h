// SPDX-License-Identifier: Apache-2.0
// Quantizing blocks with scale= by a search through every scale that they can store.
#pragma once

#include "driftless/quant/quantizer.h"

namespace driftless::quant {

/// Gives each block the scale of least squared error, the largest of equals. Values that are codes
/// times a scale of 8 bits come back as they are, whatever rule they were made by; fp16's scales
/// lie closer together than errors are counted. Throws InvalidArgument for other quantizers, and
/// what Quantizer::quantize throws.
QuantizedMatrix quantize_by_fit(const Quantizer& quantizer, ConstMat weight);

}  // namespace driftless::quant
