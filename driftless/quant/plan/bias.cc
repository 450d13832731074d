// SPDX-License-Identifier: Apache-2.0
#include "driftless/quant/plan/bias.h"

#include <algorithm>
#include <cmath>

#include "driftless/base/error.h"
#include "driftless/quant/plan/planned_layer.h"

namespace driftless::quant {
namespace {

/// Whether every product of the layer has one scale that is known before it runs.
bool has_product_scale(const LayerPlan& plan) {
  const bool is_symmetric = plan.needs_scales() && !is_asymmetric(plan.acts.format->element);
  const bool is_one_scale = std::all_of(plan.scales.begin(), plan.scales.end(),
                                        [&](const Scale& s) { return s == plan.scales[0]; });
  return is_symmetric && is_one_scale && !plan.weights.is_none() &&
         !is_asymmetric(plan.weights.format->element) &&
         (plan.weights.granularity == Granularity::Tensor ||
          plan.weights.granularity == Granularity::Channel);
}

/// s_x * s_w of each output.
std::vector<double> product_scales(const LayerPlan& plan, ConstMat weight) {
  // The scales of the weight as it is multiplied, transforms included.
  LayerPlan unrounded = plan;
  unrounded.weights = {};
  unrounded.weight_scales = {};
  const PlannedLayer layer(unrounded, weight);
  const std::vector<float> values = layer.multiplied_weight(weight);
  const QuantizedMatrix quantized =
      weight_quantizer(plan).quantize({values.data(), weight.rows, layer.length()});
  std::vector<double> scales;
  scales.reserve(static_cast<size_t>(weight.rows));
  const bool is_per_row = plan.weights.granularity == Granularity::Channel;
  for (int64_t row = 0; row < weight.rows; ++row)
    scales.push_back(static_cast<double>(plan.scales[0].scale) *
                     static_cast<double>(run_scale(quantized, is_per_row ? row : 0).scale));
  return scales;
}

}  // namespace

std::vector<float> fake_quantize_bias(const LayerPlan& plan, ConstMat weight,
                                      std::span<const float> bias) {
  std::vector<float> values(bias.begin(), bias.end());
  if (plan.bias == BiasPrecision::Float) return values;
  double absmax = 0;
  for (const float value : bias) {
    DRIFTLESS_REQUIRE(std::isfinite(value), ErrorCode::Numeric, "layer '", plan.name,
                      "': a bias is not finite; got ", value);
    absmax = std::max(absmax, std::abs(static_cast<double>(value)));
  }
  const double most = plan.bias == BiasPrecision::Int16 ? 0x7fff : 0x7fffffff;
  const std::vector<double> scales = has_product_scale(plan)
                                         ? product_scales(plan, weight)
                                         : std::vector<double>(bias.size(), absmax / most);
  for (size_t i = 0; i < values.size(); ++i) {
    if (absmax == 0) continue;
    const double code = std::nearbyint(static_cast<double>(bias[i]) / scales[i]);
    values[i] = static_cast<float>(std::clamp(code, -most, most) * scales[i]);
  }
  return values;
}

}  // namespace driftless::quant
