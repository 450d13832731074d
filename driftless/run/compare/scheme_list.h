// SPDX-License-Identifier: Apache-2.0
// Several schemes in one word, such as "none,int4/tensor,mxint4,rule=mse".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "driftless/run/scheme.h"

namespace driftless::run {

/// The schemes between the commas; a part with an equals sign is an option of the quantizer before
/// it. Throws InvalidArgument where one is empty.
std::vector<std::string> split_schemes(std::string_view text);

/// `scheme` with the quantizers of "QUANTIZER", for weights and activations alike, or of
/// "WEIGHTS:ACTIVATIONS".
SchemeText with_quantizers(SchemeText scheme, std::string_view quantizers);

/// Whether nothing is quantized.
bool is_float(const SchemeText& scheme);

}  // namespace driftless::run
