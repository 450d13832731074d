// SPDX-License-Identifier: Apache-2.0
#include "driftless/lab/net/block.h"

#include <ATen/core/grad_mode.h>

namespace driftless::lab {
namespace {

void call_between(const at::Tensor& state, const Site& site) {
  if (site.between == nullptr) return;
  (*site.between)();
  if (at::GradMode::is_enabled() && state.requires_grad())
    state.register_hook([between = *site.between](const at::Tensor&) { between(); });
}

}  // namespace

Block::Block(const model::ModelConfig& config, const std::string& prefix,
             const WeightLookup& weights, Sublayers sublayers, const BlockEngine* engine)
    : prefix_(prefix),
      engine_(engine),
      has_attention_(config.mixer == model::Mixer::Attention),
      sublayers_(sublayers),
      heads_(config.num_heads),
      eps_(config.rms_norm_eps),
      channels_(bind_swiglu(prefix + ".mlp", weights)) {
  if (has_attention_) {
    attention_ = {weights(prefix + ".self_attn.qkv_proj.weight"),
                  weights(prefix + ".self_attn.o_proj.weight")};
  } else {
    tokens_ = bind_swiglu(prefix + ".mlp_t", weights);
    tokens_.fused.gate_up_copy = tokens_.gate_up.copy.t().contiguous();
  }
}

Block::Swiglu Block::bind_swiglu(const std::string& prefix, const WeightLookup& weights) {
  Swiglu bound{weights(prefix + ".gate_up_proj.weight"), weights(prefix + ".down_proj.weight"), {}};
  const auto input_of = [](const LinearWeight& weight) {
    return weight.quantizer == nullptr ? nullptr : weight.quantizer->input();
  };
  bound.fused = {bound.gate_up.master, bound.down.master,       bound.gate_up.copy,
                 bound.down.copy,      input_of(bound.gate_up), input_of(bound.down)};
  return bound;
}

at::Tensor Block::mix_tokens_apart(const at::Tensor& h, const Site& site) const {
  const at::Tensor act = swiglu(linear(h.transpose(1, 2), tokens_.gate_up, site));
  const at::Tensor update = linear(act, tokens_.down, site).transpose(1, 2).contiguous();
  return residual_norm(h, update, NormAxis::Tokens, eps_);
}

at::Tensor Block::mix_channels_apart(const at::Tensor& h, const Site& site) const {
  const at::Tensor act = swiglu(linear(h, channels_.gate_up, site));
  return residual_norm(h, linear(act, channels_.down, site), NormAxis::Channels, eps_);
}

at::Tensor Block::run(const at::Tensor& h, const RopeTables& rope, const Site& site) const {
  if (engine_ != nullptr) return engine_->run(prefix_, h, site);
  const bool is_fused = sublayers_ == Sublayers::Fused && !site.taps_linear_inputs();
  call_between(h, site);
  at::Tensor mixed;
  if (has_attention_)
    mixed = attend(h, attention_, heads_, eps_, rope, site);
  else
    mixed = is_fused ? mix_tokens(h, tokens_.fused, eps_, site.call) : mix_tokens_apart(h, site);
  call_between(mixed, site);
  return is_fused ? mix_channels(mixed, channels_.fused, eps_, site.call)
                  : mix_channels_apart(mixed, site);
}

}  // namespace driftless::lab
