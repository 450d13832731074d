// SPDX-License-Identifier: Apache-2.0
#include "driftless/lab/quant/quantized_model.h"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>

#include <ATen/core/grad_mode.h>

#include "driftless/base/error.h"
#include "driftless/quant/quantizer.h"

namespace driftless::lab {
namespace {

using quant::BiasPrecision;
using quant::Granularity;
using quant::LayerPlan;
using quant::QuantSpec;
using quant::Source;

/// A weight [out, in] as quantizers see tensors: one board.
at::Tensor as_board(const at::Tensor& weight) { return weight.unsqueeze(0); }

double largest_code(BiasPrecision bias) {
  return bias == BiasPrecision::Int16 ? 0x7fff : 0x7fffffff;
}

std::string bias_name(const LayerPlan& layer) {
  if (layer.bias == BiasPrecision::Float) return {};
  return layer.name.substr(0, layer.name.rfind('.')) + ".bias";
}

bool is_symmetric(const QuantSpec& spec) {
  return !spec.is_none() && !quant::is_asymmetric(spec.format->element);
}

at::Tensor is_normal(const at::Tensor& scales) {
  return at::logical_and(scales.ge(FLT_MIN), scales.le(FLT_MAX));
}

std::vector<quant::Scale> scales_of(const at::Tensor& values) {
  const at::Tensor host = values.to(at::kCPU).contiguous();
  std::vector<quant::Scale> scales;
  scales.reserve(static_cast<size_t>(host.numel()));
  for (int64_t i = 0; i < host.numel(); ++i) scales.push_back({.scale = host.data_ptr<float>()[i]});
  return scales;
}

}  // namespace

QuantizedModel::QuantizedModel(const model::ModelConfig& config, const QatPlan& qat,
                               const FlatWeights& weights, const LogScales& scales,
                               const at::Tensor& origin)
    : qat_(qat),
      layout_(config),
      weights_(weights),
      log_scales_(scales.values),
      scales_(scales.values.exp()) {
  if (qat_.plan.layers.empty()) return;
  if (qat_.learns_rounding) rounding_.emplace(layout_, qat_.plan, origin);
  weights_.copy = at::zeros_like(weights.masters, weights.copy.options());
  weights_.quantizers = &quantizers_;
  const auto quantizer = [&](const QuantSpec& spec, int64_t begin, int64_t count, bool is_learned) {
    if (count == 0) return FakeQuantizer(spec);
    const bool collects = is_learned && scales.grads.defined();
    return FakeQuantizer(spec, {scales_.narrow(0, begin, count),
                                collects ? scales.grads.narrow(0, begin, count) : at::Tensor()});
  };
  layers_.reserve(qat_.plan.layers.size());
  for (const ScaleSlot& slot : scale_slots(qat, config)) {
    const LayerPlan& layer = qat_.plan.layers[slot.layer];
    auto quantizers = std::make_unique<TrainedLinear>(
        quantizer(layer.weights, slot.weight_begin, slot.weight_count, qat.learns_weights),
        quantizer(layer.acts, slot.act_begin, slot.act_count, qat.learns_acts));
    layers_.push_back({bias_name(layer), slot, quantizers.get()});
    quantizers_.emplace(layer.name, std::move(quantizers));
  }
}

const LayerPlan& QuantizedModel::plan_of(const Layer& layer) const {
  return qat_.plan.layers[layer.slot.layer];
}

void QuantizedModel::refresh() {
  if (layers_.empty()) return;
  const at::NoGradGuard no_gradients;
  const at::Tensor& masters = weights_.masters;
  scales_.copy_(log_scales_.exp());
  weights_.copy.copy_(stored(masters));
  for (const Layer& layer : layers_) {
    const std::string& name = plan_of(layer).name;
    const at::Tensor master = as_board(layout_.view(masters, name));
    if (!rounding_)
      layout_.view(weights_.copy, name)
          .copy_(layer.quantizers->weight().forward(master, NormAxis::Channels).squeeze(0));
    if (layer.bias.empty()) continue;
    const double most = largest_code(plan_of(layer).bias);
    const at::Tensor scale = bias_scale(layer);
    const at::Tensor codes = (layout_.view(masters, layer.bias).to(at::kDouble) / scale).round();
    layout_.view(weights_.copy, layer.bias)
        .copy_((codes.clamp(-most, most) * scale).to(at::kFloat));
  }
}

void QuantizedModel::confine(at::Tensor& weights) const {
  if (rounding_) rounding_->confine(weights);
}

at::Tensor QuantizedModel::stored(const at::Tensor& weights) const {
  return rounding_ ? rounding_->rounded(weights) : weights;
}

// As quant::fake_quantize_bias: counted in the product's scale where that is known, else in its
// own.
at::Tensor QuantizedModel::bias_scale(const Layer& layer) const {
  const LayerPlan& plan = plan_of(layer);
  const ScaleSlot& slot = layer.slot;
  const bool is_row = plan.weights.granularity == Granularity::Channel;
  const bool has_product_scale = slot.act_count == 1 && is_symmetric(plan.acts) &&
                                 is_symmetric(plan.weights) &&
                                 (is_row || plan.weights.granularity == Granularity::Tensor);
  if (!has_product_scale) {
    const at::Tensor absmax =
        layout_.view(weights_.masters, layer.bias).abs().max().to(at::kDouble);
    // A bias of zeros has any scale.
    return (absmax / largest_code(plan.bias)).clamp_min(std::numeric_limits<double>::min());
  }
  at::Tensor weight_scale;
  if (slot.weight_count > 0) {
    weight_scale = scales_.narrow(0, slot.weight_begin, slot.weight_count);
  } else {
    const formats::Element& element = plan.weights.format->element;
    const at::Tensor values = layout_.view(weights_.masters, plan.name).abs();
    const at::Tensor absmax = is_row ? values.amax(1) : values.max();
    weight_scale = (absmax / std::max(element.max, -element.min)).clamp_min(FLT_MIN);
  }
  return scales_.narrow(0, slot.act_begin, 1).to(at::kDouble) * weight_scale.to(at::kDouble);
}

void QuantizedModel::pull_back() const {
  const at::NoGradGuard no_gradients;
  for (const Layer& layer : layers_) {
    const std::string& name = plan_of(layer).name;
    const at::Tensor grad = layout_.view(weights_.grads, name);
    const at::Tensor master = layout_.view(weights_.masters, name);
    if (!rounding_)  // whose weights stay within their codes, so that all gradients pass
      grad.copy_(layer.quantizers->weight()
                     .backward(as_board(master), as_board(grad), NormAxis::Channels)
                     .squeeze(0));
    if (layer.bias.empty()) continue;
    const double most = largest_code(plan_of(layer).bias);
    const at::Tensor codes =
        layout_.view(weights_.masters, layer.bias).to(at::kDouble) / bias_scale(layer);
    layout_.view(weights_.grads, layer.bias).mul_(codes.abs().lt(most + 0.5).to(at::kFloat));
  }
}

at::Tensor QuantizedModel::alarm() const {
  const at::Tensor zero = at::zeros_like(scales_);
  return at::where(is_normal(scales_), zero, zero + std::numeric_limits<float>::infinity());
}

std::string QuantizedModel::bad_scale() const {
  const at::Tensor scales = log_scales_.exp();
  for (const Layer& layer : layers_) {
    const ScaleSlot& slot = layer.slot;
    const int64_t count = slot.weight_count + slot.act_count;
    if (count > 0 && !is_normal(scales.narrow(0, slot.weight_begin, count)).all().item<bool>())
      return plan_of(layer).name;
  }
  return {};
}

quant::QuantPlan QuantizedModel::plan() const {
  const std::string bad = bad_scale();
  DRIFTLESS_REQUIRE(bad.empty(), ErrorCode::Numeric, "layer '", bad,
                    "': a learned scale has reached zero or infinity; the last checkpoint is kept");
  quant::QuantPlan plan = qat_.plan;
  for (const auto& [bias, slot, quantizers] : layers_) {
    LayerPlan& layer = plan.layers[slot.layer];
    layer.weight_scales = scales_of(scales_.narrow(0, slot.weight_begin, slot.weight_count));
    layer.scales = scales_of(scales_.narrow(0, slot.act_begin, slot.act_count));
  }
  return plan;
}

at::Tensor starting_scales(const QatPlan& qat, const quant::QuantPlan& calibrated,
                           const model::ModelConfig& config, const NamedTensors& weights) {
  const std::vector<ScaleSlot> slots = scale_slots(qat, config);
  std::vector<float> logs;
  logs.reserve(static_cast<size_t>(scale_count(slots)));
  for (const ScaleSlot& slot : slots) {
    const LayerPlan& layer = calibrated.layers[slot.layer];
    if (slot.weight_count > 0) {
      const at::Tensor weight = weights.find(layer.name)->second.contiguous();
      QuantSpec spec = layer.weights;
      spec.source = Source::Dynamic;
      spec.calibration = {.kind = quant::Calibration::Kind::Mse};
      const quant::QuantizedMatrix fit = quant::Quantizer(spec).quantize(
          {weight.data_ptr<float>(), weight.size(0), weight.size(1)});
      // A channel of zeros, such as an untrained head, has any scale; it gets the widest of the
      // rest.
      float widest = FLT_MIN;
      for (const quant::Scale& scale : fit.scales.floats) widest = std::max(widest, scale.scale);
      if (widest == FLT_MIN) widest = 1;
      for (const quant::Scale& scale : fit.scales.floats)
        logs.push_back(std::log(scale.scale > FLT_MIN ? scale.scale : widest));
    }
    for (int64_t i = 0; i < slot.act_count; ++i)
      logs.push_back(std::log(layer.scale_of_call(i).scale));
  }
  return at::tensor(at::ArrayRef<float>(logs));
}

}  // namespace driftless::lab
