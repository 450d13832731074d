// SPDX-License-Identifier: Apache-2.0
#include "driftless/lab/quant/fake_quant.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/custom_function.h>

#include "driftless/base/error.h"
#include "driftless/formats/block.h"
#include "driftless/lab/device/device.h"
#include "driftless/quant/kernels/rounding.h"
#include "driftless/quant/quantizer.h"

namespace driftless::lab {
namespace {

using formats::Element;
using formats::Scaling;
using quant::Granularity;
using quant::QuantSpec;
using quant::Source;

/// Whether the CUDA kernels round to it.
bool has_kernels(const QuantSpec& spec) {
  return !spec.is_none() && quant::is_vectorizable(spec.format->element) &&
         !quant::is_asymmetric(spec.format->element);
}

cuda::FakeQuantRule rule_of(const QuantSpec& spec, bool is_learned) {
  const Element& element = spec.format->element;
  const quant::Extent grid{element.min, element.max};
  return {formats::block_scaling(element, spec.rule), is_learned ? grid : quant::unclipped(element),
          !is_learned};
}

/// The reduction axis last, as quantize() wants it.
at::Tensor rows_last(const at::Tensor& x, NormAxis axis) {
  return axis == NormAxis::Tokens ? x.transpose(1, 2) : x;
}

/// gate_up as [outer, 2, rest] and the shape of silu(gate) * up.
struct Halves {
  int64_t rows;
  std::vector<int64_t> sizes;
};
Halves halves_of(const at::Tensor& gate_up, NormAxis axis) {
  std::vector<int64_t> sizes = gate_up.sizes().vec();
  const bool is_tokens = axis == NormAxis::Tokens;
  sizes[is_tokens ? 1 : 2] /= 2;
  return {is_tokens ? sizes[0] : sizes[0] * sizes[1], sizes};
}

struct Apply : torch::autograd::Function<Apply> {
  static at::Tensor forward(torch::autograd::AutogradContext* ctx, const at::Tensor& x,
                            int64_t quantizer, int64_t axis, int64_t call) {
    ctx->save_for_backward({x});
    ctx->saved_data["quantizer"] = quantizer;
    ctx->saved_data["axis"] = axis;
    ctx->saved_data["call"] = call;
    return from_handle(quantizer)->forward(x, static_cast<NormAxis>(axis), call);
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx,
                                                 const torch::autograd::variable_list& grads) {
    const auto* quantizer = from_handle(ctx->saved_data["quantizer"].toInt());
    const at::Tensor d = quantizer->backward(ctx->get_saved_variables()[0], grads[0].contiguous(),
                                             static_cast<NormAxis>(ctx->saved_data["axis"].toInt()),
                                             ctx->saved_data["call"].toInt());
    return {d, at::Tensor(), at::Tensor(), at::Tensor()};
  }
};

}  // namespace

void require_learnable(const QuantSpec& spec, std::string_view where) {
  const bool is_learnable =
      !spec.is_none() && spec.format->scaling == Scaling::None &&
      !quant::is_asymmetric(spec.format->element) &&
      (spec.granularity == Granularity::Tensor || spec.granularity == Granularity::Channel);
  DRIFTLESS_REQUIRE(is_learnable, ErrorCode::BadConfig, where, ": '", to_string(spec),
                    "' has no gradient rule for its scales; lsq expected a symmetric format with "
                    "a scale per tensor or channel, such as int4/channel");
}

/// How the CUDA kernels quantize a tensor.
struct FakeQuantizer::Kernel {
  cuda::QuantShape shape;
  cuda::FakeQuantRule rule;
  int64_t per_scale;  ///< values; 0 for blocks
};

FakeQuantizer::FakeQuantizer(const QuantSpec& spec) : FakeQuantizer(spec, StaticScales{}) {}

FakeQuantizer::FakeQuantizer(const QuantSpec& spec, StaticScales scales)
    : spec_(spec), scales_(std::move(scales)) {
  DRIFTLESS_REQUIRE((spec.source == Source::Static) == scales_.values.defined(),
                    ErrorCode::InvalidArgument, "fake quantization: '", to_string(spec),
                    "'; expected scales with a static quantizer and with no other");
  if (has_learned_scales()) require_learnable(spec, "fake quantization");
}

int64_t FakeQuantizer::scale_index(int64_t call) const {
  return scales_.values.numel() == 1 ? 0 : call;
}

bool FakeQuantizer::has_row_scales() const {
  return scales_.values.defined() && spec_.granularity == Granularity::Channel;
}

std::optional<FakeQuantizer::Kernel> FakeQuantizer::kernel_for(const at::Tensor& x,
                                                               NormAxis axis) const {
  if (!x.is_cuda() || !has_kernels(spec_)) return std::nullopt;
  const bool is_tokens = axis == NormAxis::Tokens;
  const cuda::QuantShape shape = is_tokens ? cuda::QuantShape{x.size(0), x.size(1), x.size(2)}
                                           : cuda::QuantShape{x.size(0) * x.size(1), x.size(2), 1};
  Kernel kernel{shape, rule_of(spec_, has_learned_scales()), 0};
  const int64_t vector = cuda::vector_length(real_of(x));
  const int64_t board = x.size(1) * x.size(2);
  if (spec_.granularity == Granularity::Block) {
    const bool is_plain = spec_.format->scaling == Scaling::PowerOfTwo &&
                          spec_.rule != formats::ExponentRule::Mse &&
                          spec_.window == quant::kNoWindow && spec_.group == cuda::kFakeBlock;
    const int64_t neighbors = is_tokens ? shape.inner : shape.length;
    return is_plain && neighbors % vector == 0 ? std::optional(kernel) : std::nullopt;
  }
  const bool is_absmax =
      spec_.source == Source::Static || spec_.calibration == quant::Calibration{};
  const bool is_tensor = spec_.granularity == Granularity::Tensor;
  const bool is_row = !is_tokens && (spec_.granularity == Granularity::Channel ||
                                     spec_.granularity == Granularity::Token);
  kernel.per_scale = is_tensor ? board : shape.length;
  if (!is_absmax || !(is_tensor || is_row) || kernel.per_scale % vector != 0) return std::nullopt;
  if (spec_.source == Source::Static && is_tensor) kernel.per_scale = x.numel();
  return kernel;
}

// Scales that follow from the values must be known before the first is quantized.
std::optional<FakeQuantizer::Kernel> FakeQuantizer::fused_kernel_for(const at::Tensor& x,
                                                                     NormAxis axis) const {
  const std::optional<Kernel> kernel = kernel_for(x, axis);
  const bool is_fused = kernel && (kernel->per_scale == 0 || spec_.source == Source::Static);
  return is_fused ? kernel : std::nullopt;
}

at::Tensor FakeQuantizer::scales_of(const at::Tensor& x, int64_t call) const {
  if (has_row_scales()) return scales_.values;
  if (scales_.values.defined()) return scales_.values.narrow(0, scale_index(call), 1);
  const bool is_tensor = spec_.granularity == Granularity::Tensor;
  const int64_t runs = is_tensor ? x.size(0) : x.size(0) * x.size(1);
  at::Tensor scales = at::empty({runs}, x.options().dtype(at::kFloat));
  cuda::absmax_scales(real_of(x), runs, x.numel() / runs, x.data_ptr(), spec_.format->element,
                      scales.data_ptr<float>(), current_stream());
  return scales;
}

Quantized FakeQuantizer::plain(const at::Tensor& x, NormAxis axis, int64_t call,
                               ClipMask mask) const {
  QuantizeOptions options{.mask = mask, .type = x.scalar_type()};
  std::vector<quant::Scale> scales;
  if (scales_.values.defined()) {
    const at::Tensor host = scales_of(x, call).to(at::kCPU).contiguous();
    const float* const values = host.data_ptr<float>();
    scales.reserve(static_cast<size_t>(host.numel()));
    for (int64_t i = 0; i < host.numel(); ++i) scales.push_back({.scale = values[i]});
  }
  const at::Tensor in = x.detach();
  // The trainer finds NaN in what follows, and says at which step; nobody waits here for a device.
  const at::Tensor nan = at::full_like(in, std::numeric_limits<double>::quiet_NaN());
  const bool has_bad_scale = std::any_of(
      scales.begin(), scales.end(), [](const auto& scale) { return !std::isnormal(scale.scale); });
  if (has_bad_scale || (!in.is_cuda() && !at::isfinite(in).all().item<bool>()))
    return {nan, at::ones(in.sizes(), in.options().dtype(at::kBool)), {}};
  if (in.is_cuda()) options.not_finite = at::zeros({1}, in.options().dtype(at::kInt));
  Quantized out = quantize(quant::Quantizer(spec_, scales), rows_last(in, axis), options);
  out.values = rows_last(out.values, axis).contiguous();
  if (out.inside.defined()) out.inside = rows_last(out.inside, axis).contiguous();
  if (in.is_cuda()) out.values = at::where(options.not_finite.gt(0), nan, out.values);
  return out;
}

void FakeQuantizer::add_scale_gradient(const at::Tensor& sum, double count, int64_t call) const {
  const double factor = 1 / std::sqrt(count * static_cast<double>(spec_.format->element.max));
  const int64_t first = has_row_scales() ? 0 : scale_index(call);
  const auto part = [&](const at::Tensor& all) { return all.narrow(0, first, sum.numel()); };
  part(scales_.log_grads).add_(sum * part(scales_.values), factor);
}

at::Tensor FakeQuantizer::learned_backward(const at::Tensor& x, const at::Tensor& d_out,
                                           NormAxis axis, int64_t call) const {
  const Element& element = spec_.format->element;
  const bool is_per_row = has_row_scales();
  const at::Tensor s =
      is_per_row ? scales_.values.view({1, -1, 1}) : scales_.values.narrow(0, scale_index(call), 1);
  const at::Tensor wide = x.to(at::kFloat);
  const at::Tensor scaled = wide / s;
  const at::Tensor is_inside = at::logical_and(scaled.lt(element.max), scaled.gt(element.min));
  const at::Tensor error = (forward(x, axis, call).to(at::kFloat) - wide) / s;
  const at::Tensor slope = at::where(is_inside, error, scaled.clamp(element.min, element.max));
  const at::Tensor terms = d_out.to(at::kFloat) * slope;
  const double per_board = static_cast<double>(x.size(1) * x.size(2));
  if (is_per_row)
    add_scale_gradient(terms.sum(at::IntArrayRef({0, 2})), static_cast<double>(x.size(2)), call);
  else
    add_scale_gradient(terms.sum().view({1}), per_board, call);
  return d_out * is_inside.to(d_out.scalar_type());
}

/// Rows of odd lengths with zeros at their ends, which change no scale, where the kernels then can.
std::optional<at::Tensor> FakeQuantizer::padded_for_kernel(const at::Tensor& x,
                                                           NormAxis axis) const {
  const int64_t missing = -x.size(2) & (cuda::kFakeBlock - 1);
  if (!x.is_cuda() || axis != NormAxis::Channels || missing == 0 ||
      spec_.granularity == Granularity::Tensor)
    return std::nullopt;
  const at::Tensor padded = at::constant_pad_nd(x, {0, missing});
  return kernel_for(padded, axis) ? std::optional(padded) : std::nullopt;
}

at::Tensor FakeQuantizer::forward(const at::Tensor& x, NormAxis axis, int64_t call) const {
  if (spec_.is_none()) return x;
  const at::Tensor in = x.contiguous();
  const std::optional<Kernel> kernel = kernel_for(in, axis);
  if (!kernel) {
    if (const std::optional<at::Tensor> padded = padded_for_kernel(in, axis))
      return forward(*padded, axis, call).narrow(2, 0, in.size(2)).contiguous();
    return plain(in, axis, call, ClipMask::None).values;
  }
  at::Tensor out = at::empty_like(in);
  run_forward(in, cuda::QuantSource::Values, *kernel, call, out);
  return out;
}

void FakeQuantizer::run_forward(const at::Tensor& in, cuda::QuantSource from, const Kernel& kernel,
                                int64_t call, at::Tensor& out) const {
  const bool is_scaled = kernel.per_scale > 0;
  const at::Tensor scales = is_scaled ? scales_of(in, call) : at::Tensor();
  const cuda::ScaleView view{is_scaled ? scales.data_ptr<float>() : nullptr, kernel.per_scale};
  cuda::fake_quantize(real_of(in), kernel.shape, kernel.rule, from, in.data_ptr(),
                      is_scaled ? &view : nullptr, out.data_ptr(), current_stream());
}

void FakeQuantizer::run_backward(const at::Tensor& in, const at::Tensor& d_out,
                                 cuda::QuantSource from, const Kernel& kernel, int64_t call,
                                 at::Tensor& d_in) const {
  const bool is_scaled = kernel.per_scale > 0;
  const at::Tensor scales = is_scaled ? scales_of(in, call) : at::Tensor();
  const cuda::ScaleView view{is_scaled ? scales.data_ptr<float>() : nullptr, kernel.per_scale};
  at::Tensor partials;
  if (has_learned_scales())
    partials = at::empty({cuda::scale_partials(real_of(in), kernel.shape)}, scales.options());
  const cuda::QuantGradient to{d_in.data_ptr(), true,
                               partials.defined() ? partials.data_ptr<float>() : nullptr};
  cuda::fake_quantize_backward(real_of(in), kernel.shape, kernel.rule, from, in.data_ptr(),
                               is_scaled ? &view : nullptr, d_out.data_ptr(), to, current_stream());
  if (partials.defined())
    add_scale_gradient(partials.sum().view({1}),
                       static_cast<double>(d_out.numel()) / static_cast<double>(d_out.size(0)),
                       call);
}

at::Tensor FakeQuantizer::backward(const at::Tensor& x, const at::Tensor& d_out, NormAxis axis,
                                   int64_t call) const {
  at::Tensor d_in = at::zeros_like(d_out);
  add_backward(x, d_out, axis, call, d_in);
  return d_in;
}

void FakeQuantizer::add_backward(const at::Tensor& x, const at::Tensor& d_out, NormAxis axis,
                                 int64_t call, at::Tensor& sum) const {
  if (spec_.is_none()) {
    sum.add_(d_out);
    return;
  }
  const at::Tensor in = x.contiguous();
  const std::optional<Kernel> kernel = kernel_for(in, axis);
  if (kernel && !has_row_scales())
    return run_backward(in, d_out.contiguous(), cuda::QuantSource::Values, *kernel, call, sum);
  if (has_learned_scales()) {
    sum.add_(learned_backward(in, d_out, axis, call));
    return;
  }
  if (const std::optional<at::Tensor> padded = padded_for_kernel(in, axis)) {
    const at::Tensor d = at::constant_pad_nd(d_out, {0, padded->size(2) - in.size(2)});
    sum.add_(backward(*padded, d, axis, call).narrow(2, 0, in.size(2)));
    return;
  }
  const at::Tensor inside = plain(in, axis, call, ClipMask::Inside).inside;
  sum.add_(d_out * inside.to(d_out.scalar_type()));
}

at::Tensor FakeQuantizer::swiglu(const at::Tensor& gate_up, NormAxis axis, int64_t call) const {
  const auto [rows, sizes] = halves_of(gate_up, axis);
  at::Tensor out = at::empty(sizes, gate_up.options());
  const std::optional<Kernel> kernel = fused_kernel_for(out, axis);
  if (!kernel) return forward(swiglu_forward(gate_up, rows).view(sizes), axis, call);
  run_forward(gate_up, cuda::QuantSource::Swiglu, *kernel, call, out);
  return out;
}

at::Tensor FakeQuantizer::swiglu_backward(const at::Tensor& gate_up, const at::Tensor& d_out,
                                          NormAxis axis, int64_t call) const {
  const auto [rows, sizes] = halves_of(gate_up, axis);
  const at::Tensor d = d_out.contiguous().view(sizes);
  const std::optional<Kernel> kernel = fused_kernel_for(d, axis);
  if (!kernel) {
    const at::Tensor act = swiglu_forward(gate_up, rows).view(sizes);
    return lab::swiglu_backward(gate_up, backward(act, d, axis, call), rows);
  }
  at::Tensor d_gate_up = at::empty_like(gate_up);
  run_backward(gate_up, d, cuda::QuantSource::Swiglu, *kernel, call, d_gate_up);
  return d_gate_up;
}

at::Tensor FakeQuantizer::operator()(const at::Tensor& x, NormAxis axis, int64_t call) const {
  if (spec_.is_none()) return x;
  if (!at::GradMode::is_enabled()) return forward(x, axis, call);
  return Apply::apply(x, to_handle(this), static_cast<int64_t>(axis), call);
}

}  // namespace driftless::lab
