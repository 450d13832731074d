// SPDX-License-Identifier: Apache-2.0
#include "driftless/lab/net/layers.h"

#include <vector>

#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/custom_function.h>

#include "driftless/lab/quant/quantize.h"

namespace driftless::lab {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Function;
using torch::autograd::variable_list;

at::Tensor rows_of(const at::Tensor& values) { return values.reshape({-1, values.size(-1)}); }

struct Linear : Function<Linear> {
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& input, const at::Tensor& master,
                            const at::Tensor& copy) {
    ctx->save_for_backward({input, copy});
    ctx->saved_data["master"] = static_cast<int64_t>(master.scalar_type());
    return at::matmul(input, copy.t());
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& grads) {
    const variable_list saved = ctx->get_saved_variables();
    const auto master = static_cast<at::ScalarType>(ctx->saved_data["master"].toInt());
    const at::Tensor d_output = rows_of(grads[0]);
    const at::Tensor d_input = at::mm(d_output, saved[1]).view(saved[0].sizes());
    const at::Tensor d_weight = at::mm(d_output.t(), rows_of(saved[0])).to(master);
    return {d_input, d_weight, at::Tensor()};
  }
};

struct Swiglu : Function<Swiglu> {
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& gate_up) {
    ctx->save_for_backward({gate_up});
    return swiglu_forward(gate_up, gate_up.numel() / gate_up.size(-1));
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& grads) {
    const at::Tensor gate_up = ctx->get_saved_variables()[0];
    return {swiglu_backward(gate_up, grads[0].contiguous(), gate_up.numel() / gate_up.size(-1))};
  }
};

struct ResidualNorm : Function<ResidualNorm> {
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& h, const at::Tensor& update,
                            int64_t axis, double eps) {
    const Normed normed = residual_norm_forward(h, update, static_cast<NormAxis>(axis), eps);
    ctx->save_for_backward({normed.y, normed.scale});
    ctx->saved_data["axis"] = axis;
    return normed.y;
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& grads) {
    const variable_list saved = ctx->get_saved_variables();
    const auto axis = static_cast<NormAxis>(ctx->saved_data["axis"].toInt());
    const at::Tensor d_sum =
        residual_norm_backward(grads[0].contiguous(), {saved[0], saved[1]}, axis);
    return {d_sum, d_sum, at::Tensor(), at::Tensor()};
  }
};

std::vector<int64_t> halved(const at::Tensor& gate_up) {
  std::vector<int64_t> sizes = gate_up.sizes().vec();
  sizes.back() /= 2;
  return sizes;
}

}  // namespace

int64_t first_bad_board(const at::Tensor& values, const Site& site) {
  const at::Tensor is_good = at::isfinite(values).flatten(1).all(1).to(at::kCPU);
  for (int64_t i = 0; i < is_good.size(0); ++i)
    if (!is_good[i].item<bool>())
      return i < std::ssize(site.boards) ? site.boards[static_cast<size_t>(i)] : i;
  return 0;
}

at::Tensor tapped(const at::Tensor& input, std::string_view layer, const Site& site) {
  return site.taps_linear_inputs() ? site.tap->linear_input(layer, site.call, input) : input;
}

at::Tensor product(const at::Tensor& values, const LinearWeight& weight) {
  if (weight.bias.defined())
    return at::addmm(weight.bias, rows_of(values), weight.copy.t())
        .view({values.size(0), values.size(1), weight.copy.size(0)});
  if (!at::GradMode::is_enabled() || !weight.master.defined())
    return at::matmul(values, weight.copy.t());
  return Linear::apply(values, weight.master, weight.copy);
}

at::Tensor linear(const at::Tensor& input, const LinearWeight& weight, const Site& site) {
  if (weight.quantizer != nullptr) return weight.quantizer->linear(input, weight, site);
  return product(tapped(input, weight.name, site), weight);
}

at::Tensor swiglu(const at::Tensor& gate_up) {
  if (!at::GradMode::is_enabled() && lies_in_columns(gate_up)) {
    // [boards, 2 half, rows]: a board's gates, then its ups.
    const at::Tensor lying = gate_up.transpose(1, 2);
    return swiglu_forward(lying, lying.size(0))
        .view({lying.size(0), lying.size(1) / 2, lying.size(2)})
        .transpose(1, 2);
  }
  const at::Tensor values = gate_up.contiguous();
  const at::Tensor act = at::GradMode::is_enabled()
                             ? Swiglu::apply(values)
                             : swiglu_forward(values, values.numel() / values.size(-1));
  return act.view(halved(gate_up));
}

at::Tensor residual_norm(const at::Tensor& h, const at::Tensor& update, NormAxis axis, double eps) {
  if (!at::GradMode::is_enabled()) return residual_norm_forward(h, update, axis, eps).y;
  return ResidualNorm::apply(h, update, static_cast<int64_t>(axis), eps);
}

}  // namespace driftless::lab
