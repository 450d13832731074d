// SPDX-License-Identifier: Apache-2.0
#include "driftless/lab/net/sublayers.h"

#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/custom_function.h>

#include "driftless/lab/device/ops.h"
#include "driftless/model/shapes.h"

namespace driftless::lab {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// One matrix for every board, without copying it.
at::Tensor for_boards(const at::Tensor& matrix, int64_t boards) {
  return matrix.unsqueeze(0).expand({boards, matrix.size(0), matrix.size(1)});
}

// How the inputs of the two products are quantized.
struct InputRules {
  const FakeQuantizer* gate_up;
  const FakeQuantizer* down;
  int64_t call;

  [[nodiscard]] at::Tensor state(const at::Tensor& h, NormAxis axis) const {
    return gate_up == nullptr ? h : gate_up->forward(h, axis, call);
  }
  // silu(gate) * up as it is multiplied; gate_up [boards, ...] has `rows` pairs of halves.
  [[nodiscard]] at::Tensor act(const at::Tensor& values, NormAxis axis, int64_t rows) const {
    return down == nullptr ? swiglu_forward(values, rows) : down->swiglu(values, axis, call);
  }
  [[nodiscard]] at::Tensor act_backward(const at::Tensor& values, const at::Tensor& d_act,
                                        NormAxis axis, int64_t rows) const {
    return down == nullptr ? swiglu_backward(values, d_act, rows)
                           : down->swiglu_backward(values, d_act, axis, call);
  }
};

// What the forward pass leaves for the backward pass.
struct Trace {
  at::Tensor h;
  at::Tensor multiplied;  // h as the first product takes it
  at::Tensor gate_up;
  at::Tensor act;  // as the second product takes it
  Normed normed;
};

Trace tokens_forward(const at::Tensor& h, const at::Tensor& gate_up_t, const at::Tensor& down,
                     double eps, const InputRules& rules) {
  const int64_t boards = h.size(0);
  Trace trace{h, rules.state(h, NormAxis::Tokens), {}, {}, {}};
  trace.gate_up = at::bmm(for_boards(gate_up_t.t(), boards), trace.multiplied);
  trace.act =
      rules.act(trace.gate_up, NormAxis::Tokens, boards).view({boards, down.size(1), h.size(2)});
  const at::Tensor update = at::bmm(for_boards(down, boards), trace.act);
  trace.normed = residual_norm_forward(h, update, NormAxis::Tokens, eps);
  return trace;
}

Trace channels_forward(const at::Tensor& h, const at::Tensor& gate_up, const at::Tensor& down,
                       double eps, const InputRules& rules) {
  const int64_t rows = h.size(0) * h.size(1);
  Trace trace{h, rules.state(h, NormAxis::Channels), {}, {}, {}};
  trace.gate_up = at::mm(trace.multiplied.view({rows, h.size(2)}), gate_up.t())
                      .view({h.size(0), h.size(1), gate_up.size(0)});
  trace.act = rules.act(trace.gate_up, NormAxis::Channels, rows).view({rows, down.size(1)});
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
                          const at::Tensor& d_y, at::ScalarType master, const InputRules& rules) {
  const int64_t boards = d_y.size(0);
  at::Tensor d_s = residual_norm_backward(d_y, trace.normed, NormAxis::Tokens);
  const at::Tensor d_act = at::bmm(for_boards(down.t(), boards), d_s);
  const at::Tensor d_gate_up = rules.act_backward(trace.gate_up, d_act, NormAxis::Tokens, boards);
  // Weight gradients: one product per board, then a sum over boards in the masters' precision.
  const at::Tensor d_down = at::bmm(d_s, trace.act.transpose(1, 2)).sum(0, false, master);
  const at::Tensor d_gate_up_t =
      at::bmm(trace.multiplied, d_gate_up.transpose(1, 2)).sum(0, false, master);
  if (rules.gate_up == nullptr)
    d_s.baddbmm_(for_boards(gate_up_t, boards), d_gate_up);
  else
    rules.gate_up->add_backward(trace.h, at::bmm(for_boards(gate_up_t, boards), d_gate_up),
                                NormAxis::Tokens, rules.call, d_s);
  return {d_s, d_gate_up_t.t(), d_down};
}

Gradients channels_backward(const Trace& trace, const at::Tensor& gate_up, const at::Tensor& down,
                            const at::Tensor& d_y, at::ScalarType master, const InputRules& rules) {
  const int64_t rows = d_y.size(0) * d_y.size(1);
  at::Tensor d_s = residual_norm_backward(d_y, trace.normed, NormAxis::Channels);
  at::Tensor d_rows = d_s.view({rows, d_y.size(2)});
  const at::Tensor d_gate_up =
      rules.down == nullptr
          ? channel_act_backward(d_s, down, trace.gate_up)
          : rules.act_backward(trace.gate_up, at::mm(d_rows, down), NormAxis::Channels, rows)
                .view({rows, gate_up.size(0)});
  const at::Tensor d_down = at::mm(d_rows.t(), trace.act).to(master);
  const at::Tensor d_weight =
      at::mm(d_gate_up.t(), trace.multiplied.view({rows, d_y.size(2)})).to(master);
  if (rules.gate_up == nullptr)
    d_rows.addmm_(d_gate_up, gate_up);
  else
    rules.gate_up->add_backward(trace.h, at::mm(d_gate_up, gate_up).view(d_s.sizes()),
                                NormAxis::Channels, rules.call, d_s);
  return {d_s, d_weight, d_down};
}

using Forward = Trace (*)(const at::Tensor&, const at::Tensor&, const at::Tensor&, double,
                          const InputRules&);
using Backward = Gradients (*)(const Trace&, const at::Tensor&, const at::Tensor&,
                               const at::Tensor&, at::ScalarType, const InputRules&);

template <Forward kForward, Backward kBackward>
struct Sublayer : torch::autograd::Function<Sublayer<kForward, kBackward>> {
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& h,
                            const at::Tensor& gate_up_master, const at::Tensor& /*down_master*/,
                            const at::Tensor& gate_up, const at::Tensor& down, double eps,
                            int64_t gate_up_input, int64_t down_input, int64_t call) {
    const InputRules rules = rules_of(gate_up_input, down_input, call);
    const Trace trace = kForward(h, gate_up, down, eps, rules);
    ctx->save_for_backward({trace.h, trace.multiplied, trace.gate_up, trace.act, trace.normed.y,
                            trace.normed.scale, gate_up, down});
    ctx->saved_data["master"] = static_cast<int64_t>(gate_up_master.scalar_type());
    ctx->saved_data["gate_up"] = gate_up_input;
    ctx->saved_data["down"] = down_input;
    ctx->saved_data["call"] = call;
    return trace.normed.y;
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& grads) {
    const variable_list saved = ctx->get_saved_variables();
    const Trace trace{saved[0], saved[1], saved[2], saved[3], {saved[4], saved[5]}};
    const auto data = [&](const char* name) { return ctx->saved_data[name].toInt(); };
    const InputRules rules = rules_of(data("gate_up"), data("down"), data("call"));
    Gradients out = kBackward(trace, saved[6], saved[7], grads[0].contiguous(),
                              static_cast<at::ScalarType>(data("master")), rules);
    variable_list all(9);  // one for each argument; the first three have gradients
    all[0] = out.h;
    all[1] = out.gate_up;
    all[2] = out.down;
    return all;
  }

 private:
  static InputRules rules_of(int64_t gate_up, int64_t down, int64_t call) {
    return {from_handle(gate_up), from_handle(down), call};
  }
};

// Both passes at once, where the device has the kernels.
struct TokenMixer : torch::autograd::Function<TokenMixer> {
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& h,
                            const at::Tensor& gate_up_master, const at::Tensor& /*down_master*/,
                            const at::Tensor& gate_up_t, const at::Tensor& down, double eps) {
    const Normed normed = mixer_forward(h, gate_up_t, down, NormAxis::Tokens, eps);
    ctx->save_for_backward({h, normed.y, normed.scale, gate_up_t, down});
    ctx->saved_data["master"] = static_cast<int64_t>(gate_up_master.scalar_type());
    return normed.y;
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& grads) {
    const variable_list saved = ctx->get_saved_variables();
    const MixerGradients out = token_mixer_backward(saved[0], {saved[1], saved[2]}, saved[3],
                                                    saved[4], grads[0].contiguous());
    const auto master = static_cast<at::ScalarType>(ctx->saved_data["master"].toInt());
    variable_list all(6);
    all[0] = out.h;
    all[1] = out.gate_up.to(master);
    all[2] = out.down.to(master);
    return all;
  }
};

bool is_float(const SwigluWeights& weights) {
  return weights.gate_up_input == nullptr && weights.down_input == nullptr;
}

template <Forward kForward, Backward kBackward>
at::Tensor apply(const at::Tensor& h, const SwigluWeights& weights, NormAxis axis, double eps,
                 int64_t call) {
  const int64_t inner = weights.down_copy.size(1);
  if (!at::GradMode::is_enabled()) {
    if (is_float(weights) && fuses_mixer(h, inner, axis))
      return mixer_forward(h, weights.gate_up_copy, weights.down_copy, axis, eps).y;
    return kForward(h, weights.gate_up_copy, weights.down_copy, eps,
                    {weights.gate_up_input, weights.down_input, call})
        .normed.y;
  }
  if (axis == NormAxis::Tokens && is_float(weights) && differentiates_tokens(h, inner))
    return TokenMixer::apply(h, weights.gate_up, weights.down, weights.gate_up_copy,
                             weights.down_copy, eps);
  return Sublayer<kForward, kBackward>::apply(
      h, weights.gate_up, weights.down, weights.gate_up_copy, weights.down_copy, eps,
      to_handle(weights.gate_up_input), to_handle(weights.down_input), call);
}

}  // namespace

std::string mixers_note(const model::ModelConfig& config, at::Device device) {
  const at::ScalarType type = device.is_cuda() ? at::kBFloat16 : at::kFloat;
  const int64_t positions = model::positions_count(config);
  const at::Tensor h =
      at::empty({1, positions, config.hidden_size}, at::TensorOptions(type).device(device));
  const auto inner = [&](int64_t width) { return model::swiglu_inner(width, config.expansion); };
  const bool has_tokens = config.mixer == model::Mixer::Tokens;
  const bool fuses_t = has_tokens && fuses_mixer(h, inner(positions), NormAxis::Tokens);
  const bool fuses_d = fuses_mixer(h, inner(config.hidden_size), NormAxis::Channels);
  std::string note = "mixers: ";
  if (has_tokens) note += std::string("tokens ") + (fuses_t ? "fused, " : "apart, ");
  note += std::string("channels ") + (fuses_d ? "fused" : "apart");
  if (!runs_mixers(h, cuda::Pass::Forward))
    return note + ": fused ones need a Hopper GPU, and DRIFTLESS_MIXERS to allow them";
  if (!runs_mixers(h, cuda::Pass::Backward)) note += ", without gradients only";
  if (fuses_d && (fuses_t || !has_tokens)) return note;
  return note + ": this shape does not fit (" + std::to_string(positions) + " positions, " +
         std::to_string(config.hidden_size) + " channels)";
}

at::Tensor mix_tokens(const at::Tensor& h, const SwigluWeights& weights, double eps, int64_t call) {
  return apply<tokens_forward, tokens_backward>(h, weights, NormAxis::Tokens, eps, call);
}

at::Tensor mix_channels(const at::Tensor& h, const SwigluWeights& weights, double eps,
                        int64_t call) {
  return apply<channels_forward, channels_backward>(h, weights, NormAxis::Channels, eps, call);
}

}  // namespace driftless::lab
