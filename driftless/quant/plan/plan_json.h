// SPDX-License-Identifier: Apache-2.0
// A plan as JSON. Numbers survive the way there and back to the bit.
//
//   {"version": 1,
//    "attention": "int8",              the products of attention; absent: none, which is float
//    "layers": {
//      "L_level.layers.0.mlp.down_proj.weight": {
//        "weights": "int4/channel", "acts": "int4/tensor/static",   quantizers; absent: none
//        "sharing": "role",            absent: all
//        "bias": "int32",              absent: float
//        "smooth": 0.5,                absent: no smoothing
//        "hadamard": true,             absent: no rotation
//        "delta": true,                absent: inputs are quantized, not their changes
//        "scales": [0.25, ...],        by calibration; with "zeros": [...] for uint formats
//        "weight_scales": [0.1, ...],  learned scales, for weights such as int4/channel/static
//        "input_absmax": [1.5, ...]    by calibration, one per input
//      }, ...}}
#pragma once

#include <string>
#include <string_view>

#include "driftless/quant/plan/plan.h"

namespace driftless::quant {

std::string plan_to_json(const QuantPlan& plan);

/// Throws BadConfig, `where` first, for anything but a plan; unknown keys with the nearest one.
/// Layer names are checked by require_fits.
QuantPlan plan_from_json(std::string_view text, std::string_view where);

}  // namespace driftless::quant
