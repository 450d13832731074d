// SPDX-License-Identifier: Apache-2.0
// Biases as integers. Where the scale of a product is known before it runs (a static scale of the
// whole input, tensor or channel scales of the weight) a bias is counted in that scale, so that it
// can be added to the integer sum: s = s_x * s_w of its output. Otherwise it is added after
// dequantization and has a scale of its own: the absolute maximum of the bias over the largest
// integer. Codes are rounded to nearest even and saturate at +-(2^(b-1) - 1).
#pragma once

#include <span>
#include <vector>

#include "driftless/quant/mat_view.h"
#include "driftless/quant/plan/plan.h"

namespace driftless::quant {

/// The values that the stored integers stand for; `bias` itself for float. `weight` is the layer's
/// weight before quantization. Requires a calibrated plan. Throws Numeric for NaN and infinity.
std::vector<float> fake_quantize_bias(const LayerPlan& plan, ConstMat weight,
                                      std::span<const float> bias);

}  // namespace driftless::quant
