// SPDX-License-Identifier: Apache-2.0
// How far quantized values lie from the originals.
#pragma once

#include "driftless/quant/mat_view.h"
#include "driftless/quant/spec.h"

namespace driftless::quant {

struct ErrorStats {
  int64_t values = 0;
  double sqnr_db = 0;        ///< 10 log10(sum x^2 / sum (x - q)^2); infinite without error
  double worst_error = 0;    ///< largest |x - q|
  int64_t runs = 0;          ///< groups of values that share a scale
  int64_t clipped_runs = 0;  ///< runs in which some |x| / scale exceeds the largest element
};

/// Quantizes dynamically and compares. Throws as Quantizer::fake_quantize.
ErrorStats measure_error(const QuantSpec& spec, ConstMat values);

}  // namespace driftless::quant
