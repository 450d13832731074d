// SPDX-License-Identifier: Apache-2.0
#include "driftless/lab/quant/planned_linear.h"

#include <cmath>
#include <vector>

#include "driftless/base/error.h"
#include "driftless/lab/device/device.h"
#include "driftless/lab/net/layers.h"
#include "driftless/lab/net/parameters.h"
#include "driftless/lab/quant/change_memory.h"
#include "driftless/model/schedule.h"
#include "driftless/quant/plan/bias.h"
#include "driftless/reason/plan/linear_layers.h"

namespace driftless::lab {
namespace {

/// Whether bfloat16 holds what a side multiplies, with its scales in or apart.
bool is_narrow_side(const quant::QuantSpec& spec) {
  return quant::is_exact_in_bf16(spec) || has_separable_scales(spec);
}

/// The same of a weight: one that is not quantized may hold such values all the same.
bool is_narrow_weight(const quant::PlannedLayer& layer, quant::ConstMat weight) {
  if (!layer.plan().weights.is_none()) return is_narrow_side(layer.plan().weights);
  const at::Tensor values = tensor_of(layer.multiplied_weight(weight), at::kCPU);
  return at::equal(values, values.to(at::kBFloat16).to(at::kFloat));
}

/// The same of a layer's input: one that is not quantized is as narrow as it comes.
bool is_narrow_input(const quant::PlannedLayer& layer, at::ScalarType activations) {
  if (layer.quantizes_input()) return is_narrow_side(layer.plan().acts);
  return activations == at::kBFloat16 && !layer.transforms_input();
}

at::Tensor together(const Quantized& quantized) {
  return quantized.scales.defined() ? quantized.values.to(at::kFloat) * quantized.scales
                                    : quantized.values;
}

quant::ConstMat matrix_of(const store::TensorMap& tensors, const quant::LinearLayer& layer) {
  return {tensors.at(layer.name).values.data(), layer.outputs, layer.inputs};
}

}  // namespace

PlannedLinear::PlannedLinear(const quant::PlannedLayer& layer, quant::ConstMat weight,
                             const at::TensorOptions& activations)
    : layer_(layer) {
  const at::Device device = activations.device();
  const bool is_narrow = device.is_cuda() && is_narrow_weight(layer, weight) &&
                         is_narrow_input(layer, c10::typeMetaToScalarType(activations.dtype()));
  const bool is_apart = is_narrow && has_separable_scales(layer.plan().weights);
  const auto matrix = [&](const std::vector<float>& values) {
    return tensor_of(values, at::kCPU).view({weight.rows, layer.length()});
  };
  at::Tensor values = matrix(layer.multiplied_weight(weight));
  if (is_apart) {
    const Quantized elements =
        quantize(quant::weight_quantizer(layer.plan()), matrix(layer.transformed_weight(weight)),
                 {.scales = ScalesGo::Apart});
    values = elements.values;
    if (elements.scales.numel() == 1) {
      factor_ = elements.scales.item<float>();
    } else {
      scales_ = elements.scales.flatten().to(device);
    }
  }
  weight_ = values.to(device, is_narrow ? at::kBFloat16 : at::kFloat).t().contiguous();
  if (!layer.factors().empty()) factors_ = tensor_of(layer.factors(), device);
  if (!layer.rotation()) return;
  const auto core = layer.rotation()->core();
  const int64_t order = layer.rotation()->core_order();
  core_ = tensor_of(std::vector<float>(core.begin(), core.end()), device).view({order, order});
}

at::Tensor PlannedLinear::linear(const at::Tensor& input, const LinearWeight& weight,
                                 const Site& site) const {
  const at::Tensor output = multiplied(input, site);
  return weight.bias.defined() ? output + weight.bias : output;
}

at::Tensor PlannedLinear::multiplied(const at::Tensor& input, const Site& site) const {
  const std::string_view name = layer_.plan().name;
  const at::Tensor values = layer_.transforms_input() ? transformed(input) : input;
  if (site.taps_linear_inputs()) site.tap->linear_input(name, site.call, values);
  if (layer_.plan().delta) return sum_of_changes(values, input.scalar_type(), site);
  Quantized operand{values, {}, {}};
  if (layer_.quantizes_input()) {
    operand = quantized(values, site);
    if (site.taps_linear_inputs()) site.tap->quantized_input(name, site.call, together(operand));
  }
  return scaled_product(operand, input.scalar_type(), site.call);
}

at::Tensor PlannedLinear::sum_of_changes(const at::Tensor& values, at::ScalarType type,
                                         const Site& site) const {
  DRIFTLESS_ASSERT(site.changes != nullptr);
  const std::string_view name = layer_.plan().name;
  ChangeMemory::Sums inputs = site.changes->sums(name, ChangeMemory::Of::Input, site, values);
  const auto product_of = [&](const at::Tensor& left) {
    const Quantized change = quantized(left, site);
    inputs.add(together(change));
    return scaled_product(change, at::kFloat, site.call);
  };
  at::Tensor product = product_of(values - inputs.values());
  ChangeMemory::Sums outputs = site.changes->sums(name, ChangeMemory::Of::Output, site, product);
  outputs.add(product);
  for (int64_t pass = 1; pass < site.changes->passes(site); ++pass)
    outputs.add(product_of(site.changes->left_of_new(values - inputs.values(), site)));
  if (site.taps_linear_inputs()) site.tap->quantized_input(name, site.call, inputs.values());
  // A copy: who gets an output may write into it.
  return outputs.values().to(type, /*non_blocking=*/false, /*copy=*/true);
}

at::Tensor PlannedLinear::scaled_product(const Quantized& operand, at::ScalarType type,
                                         int64_t call) const {
  float factor = factor_;
  at::Tensor scales = scales_;
  if (operand.scales.defined()) {
    const quant::Quantizer& quantizer = layer_.input_quantizer(call);
    if (quantizer.static_scales().size() == 1) {
      factor *= quantizer.static_scales()[0].scale;
    } else {
      scales = scales.defined() ? scales * operand.scales : operand.scales;
    }
  }
  const at::Tensor values = operand.values.to(weight_.scalar_type());
  if (!scales.defined()) return product(values, type, factor).to(type);
  const at::Tensor sums = product(values, at::kFloat, factor);
  at::Tensor output = at::empty_like(sums, type);
  return at::mul_out(output, sums, scales);
}

at::Tensor PlannedLinear::transformed(const at::Tensor& input) const {
  at::Tensor values = input.to(at::kFloat);
  if (factors_.defined()) values = values / factors_;
  return layer_.rotation() ? rotated(values) : values;
}

// Sums in the order of quant::Hadamard, so that the results are the same.
at::Tensor PlannedLinear::rotated(const at::Tensor& input) const {
  const quant::Hadamard& rotation = *layer_.rotation();
  const int64_t order = rotation.order();
  const int64_t core = rotation.core_order();
  at::Tensor x =
      at::constant_pad_nd(input, {0, rotation.output_length() - rotation.input_length()});
  std::vector<int64_t> sizes = x.sizes().vec();
  for (int64_t half = core; half < order; half *= 2) {
    const at::Tensor halves = x.reshape({-1, 2, half});
    const at::Tensor low = halves.select(1, 0);
    const at::Tensor high = halves.select(1, 1);
    x = at::stack({low + high, low - high}, 1);
  }
  x = x.reshape({-1, core});
  at::Tensor sum = at::zeros_like(x);
  for (int64_t j = 0; j < core; ++j) sum.add_(x.narrow(1, j, 1) * core_.select(1, j));
  return sum.mul_(1 / std::sqrt(static_cast<float>(order))).view(sizes);
}

Quantized PlannedLinear::quantized(const at::Tensor& input, const Site& site) const {
  try {
    const bool is_apart =
        weight_.scalar_type() == at::kBFloat16 && has_separable_scales(layer_.plan().acts);
    return quantize(layer_.input_quantizer(site.call), input,
                    {.type = weight_.scalar_type(),
                     .not_finite = site.not_finite,
                     .scales = is_apart ? ScalesGo::Apart : ScalesGo::In});
  } catch (const Error& error) {
    if (error.code() != ErrorCode::Numeric) throw;
    fail(error.code(), "board ", first_bad_board(input, site), ", layer '", layer_.plan().name,
         "', call ", site.call, ": input: ", error.what());
  }
}

at::Tensor PlannedLinear::product(const at::Tensor& values, at::ScalarType type,
                                  float factor) const {
  const auto multiply = [&](const at::Tensor& a, const at::Tensor& b) {
    if (weight_.scalar_type() == at::kBFloat16 && type == at::kFloat)
      return factor == 1 ? wide_product(a, b) : wide_product(a, b).mul_(factor);
    if (factor == 1) return at::matmul(a, b);
    const at::Tensor nothing = at::zeros({1}, a.options());
    return a.dim() == 2 ? at::addmm(nothing, a, b, 0, factor)
                        : at::baddbmm(nothing, a, b, 0, factor);
  };
  if (!lies_in_columns(values)) {
    const at::Tensor rows = values.reshape({-1, values.size(-1)});
    return multiply(rows, weight_).view({values.size(0), values.size(1), weight_.size(1)});
  }
  const at::Tensor weights =
      weight_.t().unsqueeze(0).expand({values.size(0), weight_.size(1), weight_.size(0)});
  return multiply(weights, values.transpose(1, 2)).transpose(1, 2);
}

LayerQuantizers plan_linears(const store::Checkpoint& checkpoint, const quant::QuantPlan& plan,
                             const at::TensorOptions& activations) {
  const std::vector<quant::LinearLayer> layers = reason::linear_layers(checkpoint.config);
  quant::require_fits(plan, layers, std::ssize(model::schedule(checkpoint.config)), "plan");
  LayerQuantizers planned;
  for (const quant::LinearLayer& layer : layers) {
    const quant::LayerPlan* const found = plan.find(layer.name);
    if (found == nullptr) continue;
    const quant::ConstMat weight = matrix_of(checkpoint.tensors, layer);
    planned.emplace(layer.name, std::make_unique<PlannedLinear>(quant::PlannedLayer(*found, weight),
                                                                weight, activations));
  }
  return planned;
}

void plan_biases(const quant::QuantPlan& plan, const model::ModelConfig& config,
                 store::TensorMap& tensors) {
  for (const quant::LinearLayer& layer : reason::linear_layers(config)) {
    const quant::LayerPlan* const found = plan.find(layer.name);
    if (found == nullptr || !layer.has_bias) continue;
    const std::string stem = layer.name.substr(0, layer.name.rfind('.'));
    std::vector<float>& bias = tensors.at(stem + ".bias").values;
    bias = quant::fake_quantize_bias(*found, matrix_of(tensors, layer), bias);
  }
}

}  // namespace driftless::lab
