// SPDX-License-Identifier: Apache-2.0
// The arithmetic of the matrix products. States, residuals, norms and activations are float32 in
// both; so are the sums of a product.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "driftless/base/text/enum_names.h"

namespace driftless::simulate {

enum class Dtype : uint8_t { Float32, BFloat16 };

inline constexpr std::array<EnumName<Dtype>, 2> kDtypeNames = {
    {{Dtype::Float32, "f32"}, {Dtype::BFloat16, "bf16"}}};

std::string_view to_string(Dtype dtype);

/// Throws InvalidArgument when there is no such name.
Dtype parse_dtype(std::string_view text);

}  // namespace driftless::simulate
