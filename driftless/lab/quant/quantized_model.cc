// SPDX-License-Identifier: Apache-2.0
#include "driftless/lab/quant/quantized_model.h"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <limits>

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

at::Tensor is_normal(const at::Tensor& steps) {
  return at::logical_and(steps.ge(FLT_MIN), steps.le(FLT_MAX));
}

std::vector<quant::Scale> scales_of(const at::Tensor& steps) {
  const at::Tensor host = steps.to(at::kCPU).contiguous();
  std::vector<quant::Scale> scales;
  scales.reserve(static_cast<size_t>(host.numel()));
  for (int64_t i = 0; i < host.numel(); ++i) scales.push_back({.scale = host.data_ptr<float>()[i]});
  return scales;
}

}  // namespace

QuantizedModel::QuantizedModel(const model::ModelConfig& config, const QatPlan& qat,
                               const LogSteps& steps, at::ScalarType activations)
    : qat_(qat),
      layout_(config),
      slots_(step_slots(qat, config)),
      log_steps_(steps.values),
      steps_(steps.values.exp()),
      copy_(at::zeros({layout_.size()}, steps.values.options().dtype(activations))) {
  const auto part = [&](int64_t begin, int64_t count, bool is_learned) {
    const bool collects = is_learned && steps.grads.defined();
    return StepSizes{steps_.narrow(0, begin, count),
                     collects ? steps.grads.narrow(0, begin, count) : at::Tensor()};
  };
  weights_.reserve(slots_.size());
  for (const StepSlot& slot : slots_) {
    const LayerPlan& layer = qat_.plan.layers[slot.layer];
    weights_.push_back(
        {layer.name, bias_name(layer),
         slot.weight_count == 0
             ? FakeQuantizer(layer.weights)
             : FakeQuantizer(layer.weights,
                             part(slot.weight_begin, slot.weight_count, qat.learns_weights)),
         slot});
    if (layer.acts.is_none()) continue;
    inputs_.emplace(layer.name, slot.act_count == 0
                                    ? FakeQuantizer(layer.acts)
                                    : FakeQuantizer(layer.acts, part(slot.act_begin, slot.act_count,
                                                                     qat.learns_acts)));
  }
}

void QuantizedModel::refresh(const at::Tensor& masters) {
  const at::NoGradGuard no_gradients;
  steps_.copy_(log_steps_.exp());
  copy_.copy_(masters);
  for (const Weight& weight : weights_) {
    const at::Tensor master = layout_.view(masters, weight.name);
    layout_.view(copy_, weight.name)
        .copy_(weight.quantizer.forward(as_board(master), NormAxis::Channels).squeeze(0));
    if (weight.bias.empty()) continue;
    const double most = largest_code(qat_.plan.layers[weight.slot.layer].bias);
    const at::Tensor scale = bias_scale(weight, masters);
    const at::Tensor codes = (layout_.view(masters, weight.bias).to(at::kDouble) / scale).round();
    layout_.view(copy_, weight.bias).copy_((codes.clamp(-most, most) * scale).to(at::kFloat));
  }
}

// As quant::fake_quantize_bias: counted in the product's scale where that is known, else in its
// own.
at::Tensor QuantizedModel::bias_scale(const Weight& weight, const at::Tensor& masters) const {
  const LayerPlan& layer = qat_.plan.layers[weight.slot.layer];
  const StepSlot& slot = weight.slot;
  const bool is_row = layer.weights.granularity == Granularity::Channel;
  const bool has_product_scale = slot.act_count == 1 && is_symmetric(layer.acts) &&
                                 is_symmetric(layer.weights) &&
                                 (is_row || layer.weights.granularity == Granularity::Tensor);
  if (!has_product_scale) {
    const at::Tensor absmax = layout_.view(masters, weight.bias).abs().max().to(at::kDouble);
    // A bias of zeros has any scale.
    return (absmax / largest_code(layer.bias)).clamp_min(std::numeric_limits<double>::min());
  }
  at::Tensor weight_scale;
  if (slot.weight_count > 0) {
    weight_scale = steps_.narrow(0, slot.weight_begin, slot.weight_count);
  } else {
    const formats::Element& element = layer.weights.format->element;
    const at::Tensor values = layout_.view(masters, weight.name).abs();
    const at::Tensor absmax = is_row ? values.amax(1) : values.max();
    weight_scale = (absmax / std::max(element.max, -element.min)).clamp_min(FLT_MIN);
  }
  return steps_.narrow(0, slot.act_begin, 1).to(at::kDouble) * weight_scale.to(at::kDouble);
}

void QuantizedModel::pull_back(const at::Tensor& masters, at::Tensor& grads) const {
  const at::NoGradGuard no_gradients;
  for (const Weight& weight : weights_) {
    at::Tensor grad = layout_.view(grads, weight.name);
    const at::Tensor master = layout_.view(masters, weight.name);
    grad.copy_(
        weight.quantizer.backward(as_board(master), as_board(grad), NormAxis::Channels).squeeze(0));
    if (weight.bias.empty()) continue;
    const double most = largest_code(qat_.plan.layers[weight.slot.layer].bias);
    const at::Tensor codes =
        layout_.view(masters, weight.bias).to(at::kDouble) / bias_scale(weight, masters);
    layout_.view(grads, weight.bias).mul_(codes.abs().lt(most + 0.5).to(at::kFloat));
  }
}

at::Tensor QuantizedModel::alarm() const {
  const at::Tensor zero = at::zeros_like(steps_);
  return at::where(is_normal(steps_), zero, zero + std::numeric_limits<float>::infinity());
}

std::string QuantizedModel::bad_step() const {
  const at::Tensor steps = log_steps_.exp();
  for (const StepSlot& slot : slots_) {
    const int64_t count = slot.weight_count + slot.act_count;
    if (count > 0 && !is_normal(steps.narrow(0, slot.weight_begin, count)).all().item<bool>())
      return qat_.plan.layers[slot.layer].name;
  }
  return {};
}

quant::QuantPlan QuantizedModel::plan() const {
  const std::string bad = bad_step();
  DRIFTLESS_REQUIRE(bad.empty(), ErrorCode::Numeric, "layer '", bad,
                    "': a learned scale has reached zero or infinity; the last checkpoint is kept");
  quant::QuantPlan plan = qat_.plan;
  for (const StepSlot& slot : slots_) {
    LayerPlan& layer = plan.layers[slot.layer];
    layer.weight_scales = scales_of(steps_.narrow(0, slot.weight_begin, slot.weight_count));
    layer.scales = scales_of(steps_.narrow(0, slot.act_begin, slot.act_count));
  }
  return plan;
}

at::Tensor starting_steps(const QatPlan& qat, const quant::QuantPlan& calibrated,
                          const model::ModelConfig& config, const NamedTensors& weights) {
  const std::vector<StepSlot> slots = step_slots(qat, config);
  std::vector<float> steps;
  steps.reserve(static_cast<size_t>(step_count(slots)));
  for (const StepSlot& slot : slots) {
    const LayerPlan& layer = calibrated.layers[slot.layer];
    if (slot.weight_count > 0) {
      const at::Tensor weight = weights.find(layer.name)->second.contiguous();
      QuantSpec spec = layer.weights;
      spec.source = Source::Dynamic;
      spec.calibration = {.kind = quant::Calibration::Kind::Mse};
      const quant::QuantizedMatrix fit = quant::Quantizer(spec).quantize(
          {weight.data_ptr<float>(), weight.size(0), weight.size(1)});
      // A channel of zeros, such as an untrained head, has any step; it gets the widest of the
      // rest.
      float widest = FLT_MIN;
      for (const quant::Scale& scale : fit.scales.floats) widest = std::max(widest, scale.scale);
      if (widest == FLT_MIN) widest = 1;
      for (const quant::Scale& scale : fit.scales.floats)
        steps.push_back(std::log(scale.scale > FLT_MIN ? scale.scale : widest));
    }
    for (int64_t i = 0; i < slot.act_count; ++i)
      steps.push_back(std::log(layer.scale_of_call(i).scale));
  }
  return at::tensor(at::ArrayRef<float>(steps));
}

}  // namespace driftless::lab
