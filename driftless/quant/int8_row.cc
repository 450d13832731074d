// SPDX-License-Identifier: Apache-2.0
#include "driftless/quant/int8_row.h"

#include <bit>

#include "driftless/formats/float_bits.h"
#include "driftless/formats/integer.h"
#include "driftless/quant/kernels/kernel_set.h"
#include "driftless/quant/scalar_scale.h"

namespace driftless::quant {

float encode_int8_row(std::span<const float> values, std::span<int8_t> codes) noexcept {
  constexpr formats::Element kElement = formats::Integer<8, formats::Range::Narrow>::element();
  const uint32_t largest = kernels().absmax_bits(values.data(), std::ssize(values));
  if (largest >= formats::kFloatInfinityBits) return 0;
  const float scale = scalar::symmetric_scale(kElement, std::bit_cast<float>(largest)).scale;
  // The quotients lie within -127 ... 127: the sum with 1.5 * 2^23 is rounded to an integer, to
  // nearest even, which its low bits count.
  constexpr float kRounder = 0x1.8p23f;
  for (size_t i = 0; i < values.size(); ++i)
    codes[i] = static_cast<int8_t>(std::bit_cast<uint32_t>(values[i] / scale + kRounder));
  return scale;
}

}  // namespace driftless::quant
