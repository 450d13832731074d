// SPDX-License-Identifier: Apache-2.0
// The complete scalar kernel set, in terms of the scalar truth alone.
#include <algorithm>

#include "driftless/formats/float_bits.h"
#include "driftless/quant/kernels/kernel_set.h"

namespace driftless::quant {
namespace {

using formats::BlockScaling;
using formats::Element;

uint32_t absmax_bits(const float* x, int64_t n) noexcept {
  uint32_t largest = 0;
  for (int64_t i = 0; i < n; ++i) largest = std::max(largest, formats::magnitude_bits(x[i]));
  return largest;
}

Extent extent(const float* x, int64_t n) noexcept {
  Extent result;
  for (int64_t i = 0; i < n; ++i) {
    result.low = std::min(result.low, x[i]);
    result.high = std::max(result.high, x[i]);
  }
  return result;
}

void fake_scaled(const Element& element, const Scale& scale, const float* x, int64_t n,
                 float* out) noexcept {
  for (int64_t i = 0; i < n; ++i) out[i] = decode(element, scale, encode(element, scale, x[i]));
}

/// Calls visit(index, first, length) group by group until one is not finite.
template <class Visit>
int64_t for_each_group(const float* x, Groups groups, Visit visit) noexcept {
  for (int64_t first = 0, index = 0; first < groups.n; first += groups.group, ++index) {
    const int64_t length = std::min(groups.group, groups.n - first);
    if (absmax_bits(x + first, length) >= formats::kFloatInfinityBits) return index;
    visit(index, first, length);
  }
  return kAllFinite;
}

int64_t fake_groups(const Element& element, const float* x, Groups groups, float* out) noexcept {
  return for_each_group(x, groups, [&](int64_t, int64_t first, int64_t length) {
    const Extent values = extent(x + first, length);
    Scale scale = scale_of(element, values);
    scale.scale = formats::round_scale(groups.rule, scale.scale) *
                  formats::scale_sign(groups.rule.format, values.low, values.high);
    fake_scaled(element, scale, x + first, length, out + first);
  });
}

int64_t fake_blocks(const BlockScaling& scaling, const float* x, Groups groups, float* out,
                    uint8_t* scales) noexcept {
  return for_each_group(x, groups, [&](int64_t index, int64_t first, int64_t length) {
    const int exponent =
        formats::shared_exponent(scaling, {x + first, static_cast<size_t>(length)});
    if (scales != nullptr)
      scales[index] = static_cast<uint8_t>(formats::E8m0fnu::code_of_exponent(exponent));
    for (int64_t i = first; i < first + length; ++i) {
      const uint16_t code = formats::encode_scaled(scaling.element, x[i], exponent);
      out[i] = formats::decode_scaled(scaling.element, code, exponent);
    }
  });
}

int64_t encode_blocks(const BlockScaling& scaling, const float* x, Groups groups, uint8_t* codes,
                      uint8_t* scales) noexcept {
  return for_each_group(x, groups, [&](int64_t index, int64_t first, int64_t length) {
    const int exponent =
        formats::shared_exponent(scaling, {x + first, static_cast<size_t>(length)});
    scales[index] = static_cast<uint8_t>(formats::E8m0fnu::code_of_exponent(exponent));
    for (int64_t i = first; i < first + length; ++i) {
      codes[i] = static_cast<uint8_t>(formats::encode_scaled(scaling.element, x[i], exponent));
    }
  });
}

void encode_integers(const Element& element, const float* x, int64_t n, IntegerBytes form,
                     uint8_t* bytes) noexcept {
  const int sign = 1 << (element.bits - 1);
  for (int64_t i = 0; i < n; ++i) {
    const int code = encode(element, {.scale = form.scale}, x[i]);
    bytes[i] = static_cast<uint8_t>((code ^ sign) - sign + form.offset);
  }
}

void pack4(const uint8_t* codes, int64_t n, uint8_t* packed) noexcept {
  for (int64_t i = 0; i + 1 < n; i += 2) {
    packed[i / 2] = static_cast<uint8_t>(codes[i] | (codes[i + 1] << 4));
  }
  if (n % 2 != 0) packed[n / 2] = codes[n - 1];
}

void unpack4(const uint8_t* packed, int64_t n, uint8_t* codes) noexcept {
  for (int64_t i = 0; i < n; ++i) {
    codes[i] = i % 2 == 0 ? packed[i / 2] & 0x0f : packed[i / 2] >> 4;
  }
}

}  // namespace

constinit const KernelSet kScalarKernels = {
    .name = "scalar",
    .absmax_bits = absmax_bits,
    .extent = extent,
    .fake_scaled = fake_scaled,
    .fake_groups = fake_groups,
    .fake_blocks = fake_blocks,
    .squared_error = formats::scaled_squared_error,
    .encode_blocks = encode_blocks,
    .encode_integers = encode_integers,
    .pack4 = pack4,
    .unpack4 = unpack4,
};

}  // namespace driftless::quant
