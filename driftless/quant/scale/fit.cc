// SPDX-License-Identifier: Apache-2.0
#include "driftless/quant/scale/fit.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "driftless/base/error.h"
#include "driftless/formats/block.h"
#include "driftless/quant/runs.h"

namespace driftless::quant {
namespace {

/// Of scales from the largest down.
Scale best_scale(const QuantSpec& spec, std::span<const float> block) {
  const formats::Element& element = spec.format->element;
  float absmax = 0;
  for (const float value : block) absmax = std::max(absmax, std::abs(value));
  const float unit = formats::error_unit(absmax);
  const auto [lowest, highest] = formats::positive_codes(spec.scale);
  Scale best;
  bool has_best = false;
  uint32_t least = 0;
  for (int code = highest; code >= lowest; --code) {
    const float magnitude = formats::decode_scale(spec.scale, static_cast<uint16_t>(code));
    // Larger ones round everything to zero, smaller ones clip everything that counts.
    const bool is_useful = magnitude <= 2 * absmax && magnitude * element.max * 4 >= absmax;
    if (!is_useful && code != lowest && code != highest) continue;
    for (const float sign : {1.0f, -1.0f}) {
      if (sign < 0 && !formats::is_signed(spec.scale)) continue;
      const float scale = sign * magnitude;
      const uint32_t error = kernels().squared_error(element, block, scale, unit);
      if (has_best && error >= least) continue;
      best.scale = scale;
      least = error;
      has_best = true;
    }
  }
  return best;
}

}  // namespace

QuantizedMatrix quantize_by_fit(const Quantizer& quantizer, ConstMat weight) {
  const QuantSpec& spec = quantizer.spec();
  DRIFTLESS_REQUIRE(spec.has_scale_codes(), ErrorCode::InvalidArgument, "fit: got '",
                    to_string(spec), "', expected blocks with scale=");
  QuantizedMatrix out = quantizer.quantize(weight);
  for_each_run(spec, weight.rows, weight.cols, [&](int64_t index, int64_t first, int64_t length) {
    const std::span block(weight.data + first, static_cast<size_t>(length));
    const Scale scale = best_scale(spec, block);
    out.scales.floats[static_cast<size_t>(index)] = scale;
    for (int64_t i = first; i < first + length; ++i)
      out.codes[static_cast<size_t>(i)] =
          static_cast<uint8_t>(encode(spec.format->element, scale, weight.data[i]));
  });
  return out;
}

}  // namespace driftless::quant
