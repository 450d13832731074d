// SPDX-License-Identifier: Apache-2.0
#include "driftless/lab/sublayers.h"

#include <tuple>

#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/custom_function.h>

#include "driftless/lab/ops.h"

namespace driftless::lab {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// One matrix for every board, without copying it.
at::Tensor for_boards(const at::Tensor& matrix, int64_t boards) {
  return matrix.unsqueeze(0).expand({boards, matrix.size(0), matrix.size(1)});
}

// What the forward pass leaves for the backward pass.
struct Trace {
  at::Tensor h;
  at::Tensor gate_up;
  at::Tensor act;
  Normed normed;
};

Trace tokens_forward(const at::Tensor& h, const at::Tensor& gate_up_t, const at::Tensor& down,
                     double eps) {
  const int64_t boards = h.size(0);
  Trace trace{h, at::bmm(for_boards(gate_up_t.t(), boards), h), {}, {}};
  trace.act = swiglu_forward(trace.gate_up, boards).view({boards, down.size(1), h.size(2)});
  const at::Tensor update = at::bmm(for_boards(down, boards), trace.act);
  trace.normed = residual_norm_forward(h, update, NormAxis::Tokens, eps);
  return trace;
}

Trace channels_forward(const at::Tensor& h, const at::Tensor& gate_up, const at::Tensor& down,
                       double eps) {
  const int64_t rows = h.size(0) * h.size(1);
  Trace trace{h, at::mm(h.view({rows, h.size(2)}), gate_up.t()), {}, {}};
  trace.act = swiglu_forward(trace.gate_up, rows);
  const at::Tensor update = at::mm(trace.act, down.t()).view(h.sizes());
  trace.normed = residual_norm_forward(h, update, NormAxis::Channels, eps);
  return trace;
}

struct Gradients {
  at::Tensor h;
  at::Tensor gate_up;
  at::Tensor down;
};

Gradients tokens_backward(const Trace& trace, const at::Tensor& gate_up_t, const at::Tensor& down,
                          const at::Tensor& d_y, at::ScalarType master) {
  const int64_t boards = d_y.size(0);
  at::Tensor d_s = residual_norm_backward(d_y, trace.normed, NormAxis::Tokens);
  const at::Tensor d_act = at::bmm(for_boards(down.t(), boards), d_s);
  const at::Tensor d_gate_up = swiglu_backward(trace.gate_up, d_act, boards);
  // Weight gradients: one product per board, then a sum over boards in the masters' precision.
  const at::Tensor d_down = at::bmm(d_s, trace.act.transpose(1, 2)).sum(0, false, master);
  const at::Tensor d_gate_up_t = at::bmm(trace.h, d_gate_up.transpose(1, 2)).sum(0, false, master);
  d_s.baddbmm_(for_boards(gate_up_t, boards), d_gate_up);
  return {d_s, d_gate_up_t.t(), d_down};
}

Gradients channels_backward(const Trace& trace, const at::Tensor& gate_up, const at::Tensor& down,
                            const at::Tensor& d_y, at::ScalarType master) {
  const int64_t rows = d_y.size(0) * d_y.size(1);
  at::Tensor d_s = residual_norm_backward(d_y, trace.normed, NormAxis::Channels);
  at::Tensor d_rows = d_s.view({rows, d_y.size(2)});
  const at::Tensor d_gate_up = swiglu_backward(trace.gate_up, at::mm(d_rows, down), rows);
  const at::Tensor d_down = at::mm(d_rows.t(), trace.act).to(master);
  const at::Tensor d_weight = at::mm(d_gate_up.t(), trace.h.view({rows, d_y.size(2)})).to(master);
  d_rows.addmm_(d_gate_up, gate_up);
  return {d_s, d_weight, d_down};
}

using Forward = Trace (*)(const at::Tensor&, const at::Tensor&, const at::Tensor&, double);
using Backward = Gradients (*)(const Trace&, const at::Tensor&, const at::Tensor&,
                               const at::Tensor&, at::ScalarType);

template <Forward kForward, Backward kBackward>
struct Sublayer : torch::autograd::Function<Sublayer<kForward, kBackward>> {
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& h,
                            const at::Tensor& gate_up_master, const at::Tensor& /*down_master*/,
                            const at::Tensor& gate_up, const at::Tensor& down, double eps) {
    const Trace trace = kForward(h, gate_up, down, eps);
    ctx->save_for_backward(
        {trace.h, trace.gate_up, trace.act, trace.normed.y, trace.normed.scale, gate_up, down});
    ctx->saved_data["master"] = static_cast<int64_t>(gate_up_master.scalar_type());
    return trace.normed.y;
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& grads) {
    const variable_list saved = ctx->get_saved_variables();
    const Trace trace{saved[0], saved[1], saved[2], {saved[3], saved[4]}};
    const auto master = static_cast<at::ScalarType>(ctx->saved_data["master"].toInt());
    Gradients out = kBackward(trace, saved[5], saved[6], grads[0].contiguous(), master);
    return {out.h, out.gate_up, out.down, at::Tensor(), at::Tensor(), at::Tensor()};
  }
};

template <Forward kForward, Backward kBackward>
at::Tensor apply(const at::Tensor& h, const SwigluWeights& weights, double eps) {
  if (!at::GradMode::is_enabled())
    return kForward(h, weights.gate_up_copy, weights.down_copy, eps).normed.y;
  return Sublayer<kForward, kBackward>::apply(h, weights.gate_up, weights.down,
                                              weights.gate_up_copy, weights.down_copy, eps);
}

}  // namespace

at::Tensor mix_tokens(const at::Tensor& h, const SwigluWeights& weights, double eps) {
  return apply<tokens_forward, tokens_backward>(h, weights, eps);
}

at::Tensor mix_channels(const at::Tensor& h, const SwigluWeights& weights, double eps) {
  return apply<channels_forward, channels_backward>(h, weights, eps);
}

}  // namespace driftless::lab
