// SPDX-License-Identifier: Apache-2.0
#include "driftless/quant/int8_row.h"

#include <bit>

#include "driftless/formats/float_bits.h"
#include "driftless/formats/integer.h"
#include "driftless/quant/kernels/kernel_set.h"
#include "driftless/quant/scale/scalar_scale.h"

namespace driftless::quant {

float encode_int8_row(std::span<const float> values, std::span<int8_t> codes) noexcept {
  constexpr formats::Element kElement = formats::Integer<8, formats::Range::Narrow>::element();
  const uint32_t largest = kernels().absmax_bits(values.data(), std::ssize(values));
  if (largest >= formats::kFloatInfinityBits) return 0;
  const float scale = scalar::symmetric_scale(kElement, std::bit_cast<float>(largest)).scale;
  kernels().encode_integers(kElement, values.data(), std::ssize(values), {scale, 0},
                            reinterpret_cast<uint8_t*>(codes.data()));
  return scale;
}

}  // namespace driftless::quant
