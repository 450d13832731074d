// SPDX-License-Identifier: Apache-2.0
#include "driftless/lab/quant/learned_rounding.h"

#include <algorithm>
#include <vector>

#include "driftless/base/error.h"
#include "driftless/formats/float_bits.h"
#include "driftless/quant/kernels/rounding.h"
#include "driftless/quant/plan/planned_layer.h"
#include "driftless/quant/runs.h"

namespace driftless::lab {

void require_roundable(const quant::QuantSpec& spec, std::string_view where) {
  const bool is_roundable = !spec.is_none() && quant::is_uniform(spec.format->element) &&
                            !quant::is_asymmetric(spec.format->element) &&
                            spec.source == quant::Source::Dynamic &&
                            spec.window == quant::kNoWindow;
  DRIFTLESS_REQUIRE(is_roundable, ErrorCode::BadConfig, where, ": '", to_string(spec),
                    "' cannot learn how it rounds; expected symmetric integers without a window, "
                    "such as int4/block32,scale=e5m3");
}

LearnedRounding::LearnedRounding(const ParameterLayout& layout, const quant::QuantPlan& plan,
                                 const at::Tensor& origin) {
  const at::Tensor exact = origin.to(at::kCPU).contiguous();
  at::Tensor spacing = at::ones_like(exact);
  at::Tensor reach = at::zeros_like(exact);
  at::Tensor lowest = at::zeros_like(exact);
  at::Tensor most = at::zeros_like(exact);
  for (const quant::LayerPlan& layer : plan.layers) {
    if (layer.weights.is_none()) continue;
    const formats::Element& element = layer.weights.format->element;
    const float unit = formats::power_of_two(element.min_exponent - element.mantissa_bits);
    const at::Tensor weight = layout.view(exact, layer.name).contiguous();
    const quant::ConstMat matrix{weight.data_ptr<float>(), weight.size(0), weight.size(1)};
    const std::vector<quant::Scale> scales = quant::weight_quantizer(layer).scales_of(matrix);
    float* const of_layer = layout.view(spacing, layer.name).data_ptr<float>();
    quant::for_each_run(
        layer.weights, matrix.rows, matrix.cols, [&](int64_t index, int64_t first, int64_t length) {
          std::fill_n(of_layer + first, length, unit * scales[static_cast<size_t>(index)].scale);
        });
    layout.view(reach, layer.name).copy_(layout.view(spacing, layer.name).abs() / 2);
    layout.view(lowest, layer.name).fill_(element.min / unit);
    layout.view(most, layer.name).fill_(element.max / unit);
  }
  const auto there = [&](const at::Tensor& tensor) { return tensor.to(origin.device()); };
  least_ = there(exact - reach);
  most_ = there(exact + reach);
  spacing_ = there(spacing);
  lowest_code_ = there(lowest);
  most_code_ = there(most);
  is_rounded_ = there(reach.gt(0));
}

void LearnedRounding::confine(at::Tensor& weights) const { weights.clamp_(least_, most_); }

at::Tensor LearnedRounding::rounded(const at::Tensor& weights) const {
  const at::Tensor codes = (weights / spacing_).round().clamp(lowest_code_, most_code_);
  return at::where(is_rounded_, codes * spacing_, weights);
}

}  // namespace driftless::lab
