// SPDX-License-Identifier: Apache-2.0
#include "driftless/quant/plan/planned_layer.h"

#include <algorithm>

#include "driftless/base/error.h"
#include "driftless/quant/plan/smooth.h"

namespace driftless::quant {
namespace {

std::vector<float> factors_of(const LayerPlan& plan, ConstMat weight) {
  if (!plan.smooth) return {};
  std::vector<float> weight_absmax(static_cast<size_t>(weight.cols));
  update_column_absmax(weight, weight_absmax);
  return smoothing_factors(plan.input_absmax, weight_absmax, *plan.smooth);
}

std::optional<Hadamard> rotation_of(const LayerPlan& plan, int64_t inputs) {
  if (!plan.hadamard) return std::nullopt;
  if (plan.acts.group > 1 && is_hadamard_order(plan.acts.group))
    return Hadamard::blocks(inputs, plan.acts.group);
  return Hadamard::whole(inputs);
}

}  // namespace

bool needs_whole_matrix(const QuantSpec& spec) noexcept {
  if (spec.is_none() || spec.source == Source::Static) return false;
  return spec.granularity == Granularity::Tensor ||
         spec.format->scaling == formats::Scaling::TwoLevel;
}

bool is_exact_in_bf16(const QuantSpec& spec) noexcept {
  if (spec.is_none()) return false;
  const bool is_power_of_two =
      spec.granularity == Granularity::Unit || spec.format->scaling == formats::Scaling::PowerOfTwo;
  constexpr int kBf16MantissaBits = 7;
  const int element_bits = spec.format->element.mantissa_bits;
  // A code times the 8 to 15 (e5m3) or 16 to 31 (e4m4) steps of its scale.
  if (spec.scale == formats::ScaleFormat::E5m3 || spec.scale == formats::ScaleFormat::S4m3)
    return element_bits + 4 <= kBf16MantissaBits;
  if (spec.scale == formats::ScaleFormat::E4m4) return element_bits + 5 <= kBf16MantissaBits;
  return is_power_of_two && element_bits <= kBf16MantissaBits;
}

Quantizer weight_quantizer(const LayerPlan& plan) { return {plan.weights, plan.weight_scales}; }

PlannedLayer::PlannedLayer(const LayerPlan& plan, ConstMat weight)
    : PlannedLayer(plan, weight.cols,
                   plan.is_calibrated() ? factors_of(plan, weight) : std::vector<float>()) {}

PlannedLayer::PlannedLayer(const LayerPlan& plan, int64_t inputs, std::vector<float> factors)
    : plan_(plan), inputs_(inputs), length_(inputs), factors_(std::move(factors)) {
  DRIFTLESS_REQUIRE(plan.is_calibrated(), ErrorCode::InvalidArgument, "layer '", plan.name,
                    "': the plan has no static scales or input ranges; calibrate it first");
  rotation_ = rotation_of(plan, inputs);
  if (rotation_) length_ = rotation_->output_length();
  if (!quantizes_input()) return;
  if (plan.needs_scales()) {
    quantizers_.reserve(plan.scales.size());
    for (const Scale& scale : plan.scales) quantizers_.emplace_back(plan.acts, std::vector{scale});
  } else {
    quantizers_.emplace_back(plan.acts);
  }
}

bool PlannedLayer::is_exact_in_bf16() const noexcept {
  return quant::is_exact_in_bf16(plan_.weights) && quant::is_exact_in_bf16(plan_.acts);
}

bool PlannedLayer::needs_whole_input() const noexcept { return needs_whole_matrix(plan_.acts); }

std::vector<float> PlannedLayer::transformed_weight(ConstMat weight) const {
  std::vector<float> smoothed(weight.data, weight.data + weight.size());
  if (has_factors()) smooth_weights(factors_, {smoothed.data(), weight.rows, weight.cols});
  if (!rotation_) return smoothed;
  std::vector<float> rotated(static_cast<size_t>(weight.rows * length_));
  rotation_->apply({smoothed.data(), weight.rows, weight.cols},
                   {rotated.data(), weight.rows, length_});
  return rotated;
}

std::vector<float> PlannedLayer::multiplied_weight(ConstMat weight) const {
  std::vector<float> values = transformed_weight(weight);
  const Mat matrix{values.data(), weight.rows, length_};
  try {
    weight_quantizer(plan_).fake_quantize({matrix.data, matrix.rows, matrix.cols}, matrix);
  } catch (const Error& error) {
    fail(error.code(), "layer '", plan_.name, "': weight: ", error.what());
  }
  return values;
}

void PlannedLayer::transform_input(ConstMat in, Mat out, std::span<float> scratch) const {
  for (int64_t row = 0; row < in.rows; ++row) {
    const auto target = out.row(row);
    const auto source = in.row(row);
    if (has_factors())
      std::transform(source.begin(), source.end(), factors_.begin(), target.begin(),
                     [](float x, float factor) { return x / factor; });
    else
      std::copy(source.begin(), source.end(), target.begin());
    if (rotation_) rotation_->apply_in_place(target, scratch);
  }
}

int64_t PlannedLayer::scratch_length() const noexcept {
  return rotation_ ? rotation_->scratch_length() : 0;
}

}  // namespace driftless::quant
