// SPDX-License-Identifier: Apache-2.0
#include "driftless/quant/scale/block_scale.h"

#include "driftless/formats/block.h"

namespace driftless::quant {

float block_scale(const QuantSpec& spec, std::span<const float> block, float absmax,
                  const KernelSet& kernels) noexcept {
  const formats::Element& element = spec.format->element;
  const float nearest =
      formats::round_scale(spec.scale_rule(), symmetric_scale(element, absmax).scale);
  const Extent extent =
      formats::is_signed(spec.scale) ? kernels.extent(block.data(), std::ssize(block)) : Extent{};
  const float sign = formats::scale_sign(spec.scale, extent.low, extent.high);
  float best = sign * nearest;
  if (spec.rule != formats::ExponentRule::Mse) return best;
  const float unit = formats::error_unit(absmax);
  uint32_t least = kernels.squared_error(element, block, best, unit);
  for (const int eighths : formats::kScaleSteps) {
    const float candidate = sign * formats::step_scale(spec.scale, nearest, eighths);
    const uint32_t error = kernels.squared_error(element, block, candidate, unit);
    if (error >= least) continue;
    best = candidate;
    least = error;
  }
  return best;
}

}  // namespace driftless::quant
