// SPDX-License-Identifier: Apache-2.0
#include "driftless/integer/scaled_blocks.h"

#include <algorithm>
#include <bit>

#include "driftless/base/error.h"
#include "driftless/formats/float_bits.h"
#include "driftless/quant/kernels/kernel_set.h"
#include "driftless/quant/scale/block_scale.h"
#include "driftless/quant/scale/scalar_scale.h"
#include "driftless/quant/scale/window.h"

namespace driftless::integer {
namespace {

/// A row is finished in stretches of so many blocks, so that its factors need no memory.
constexpr int64_t kStretch = 64;

void multiply_codes(const CodesToMultiply& args) noexcept {
  for (int64_t i = 0; i < args.blocks * kBlock; ++i) {
    const auto code = static_cast<float>(static_cast<int8_t>(args.codes[i]));
    float integer = code * args.factors[i / kBlock];
    quant::round_to_unit(1, {&integer, 1});
    args.codes[i] = static_cast<uint8_t>(static_cast<int>(integer) ^ args.flip);
  }
}

}  // namespace

void require_code_scales(const quant::QuantSpec& spec) {
  DRIFTLESS_REQUIRE(formats::scale_bits(spec.scale) == 8, ErrorCode::Unsupported,
                    "native product: activations as '", to_string(spec),
                    "'; expected scales of 8 bits, such as scale=e5m3");
}

bool knows_scaled_blocks(const quant::QuantSpec& spec, const KernelSet& set) noexcept {
  return set.encoders != nullptr && spec.group == kBlock &&
         spec.rule == formats::ExponentRule::Round && set.encoders->knows_scales != nullptr &&
         set.encoders->knows_scales({spec.format->element, spec.scale_rule()});
}

int64_t encode_scaled_blocks(const quant::QuantSpec& spec, const float* values, int64_t k,
                             uint8_t* codes, uint8_t* scales) noexcept {
  const quant::KernelSet& kernels = quant::kernels();
  for (int64_t first = 0; first < k; first += kBlock) {
    const int64_t length = std::min(kBlock, k - first);
    const uint32_t largest = kernels.absmax_bits(values + first, length);
    if (largest >= formats::kFloatInfinityBits) return first / kBlock;
    const float scale = quant::block_scale(spec, {values + first, static_cast<size_t>(length)},
                                           std::bit_cast<float>(largest), kernels);
    kernels.encode_integers(spec.format->element, values + first, length, {scale, 0},
                            codes + first);
    scales[first / kBlock] = static_cast<uint8_t>(formats::encode_scale(spec.scale, scale));
  }
  return quant::kAllFinite;
}

float finish_scaled_row(const RowFinish& finish, const ScaledRow& row) noexcept {
  const formats::ScaleFormat format = finish.spec.scale;
  // Codes without their sign are in the order of what they decode to.
  const uint8_t magnitudes = formats::is_signed(format) ? formats::S4m3::kSign - 1 : 0xff;
  uint8_t top = 0;
  for (int64_t block = 0; block < row.blocks; ++block)
    top = std::max(top, static_cast<uint8_t>(row.scales[block] & magnitudes));
  const float unit =
      quant::scalar::row_unit(formats::decode_scale(format, top), finish.spec.window);
  const int bits = finish.spec.format->element.bits;
  const auto multiply =
      finish.encoders != nullptr ? finish.encoders->multiply_codes : multiply_codes;
  const int unit_exponent = formats::octave_of(unit).exponent;
  float factors[kStretch];
  for (int64_t first = 0; first < row.blocks; first += kStretch) {
    const int64_t count = std::min(kStretch, row.blocks - first);
    for (int64_t i = 0; i < count; ++i) {
      const float scale = formats::decode_scale(format, row.scales[first + i]);
      const int shift = quant::scalar::block_shift(bits, scale, unit);
      factors[i] = scale * formats::power_of_two(-unit_exponent - shift);
      row.scales[first + i] = static_cast<uint8_t>(shift);
    }
    multiply({row.codes + first * kBlock, count, factors, finish.set.row_flip});
  }
  return unit;
}

}  // namespace driftless::integer
