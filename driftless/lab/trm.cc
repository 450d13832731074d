// SPDX-License-Identifier: Apache-2.0
#include "driftless/lab/trm.h"

#include <algorithm>
#include <cmath>
#include <string>

#include <ATen/core/grad_mode.h>

#include "driftless/base/error.h"
#include "driftless/model/shapes.h"

namespace driftless::lab {
namespace {

void require_supported(const model::ModelConfig& config) {
  DRIFTLESS_REQUIRE(config.arch == model::Arch::Trm && config.mixer == model::Mixer::Tokens,
                    ErrorCode::Unsupported, "lab: got ", model::to_string(config.arch),
                    config.mixer == model::Mixer::Tokens ? "" : " with attention",
                    ", expected trm with the token mixer (mlp_t true)");
  DRIFTLESS_REQUIRE(config.puzzle_emb_len == 0, ErrorCode::Unsupported, "lab: puzzle_emb_len; got ",
                    config.puzzle_emb_len, ", expected 0: prefix rows are not trained yet");
  DRIFTLESS_REQUIRE(config.positions != model::Positions::Learned, ErrorCode::Unsupported,
                    "lab: pos_encodings; got learned, expected none");
}

// Matrix units want rows of whole 16-byte pieces; vocabularies are odd.
constexpr int64_t kRowMultiple = 8;
int64_t padded_vocab(const model::ModelConfig& config) {
  return (config.vocab_size + kRowMultiple - 1) / kRowMultiple * kRowMultiple;
}
at::Tensor pad_rows(const at::Tensor& matrix, int64_t rows) {
  return at::constant_pad_nd(matrix, {0, 0, 0, rows - matrix.size(0)});
}

}  // namespace

Trm::Trm(const model::ModelConfig& config, const FlatWeights& weights, const States& initial)
    : config_(config), layout_(config), copy_(weights.copy) {
  require_supported(config);
  initial_ = {initial.h.to(copy_.options()), initial.l.to(copy_.options())};
  for (const Layout::Entry& entry : layout_.entries()) {
    at::Tensor master = layout_.view(weights.masters, entry.name).detach();
    if (weights.grads.defined()) {
      master.set_requires_grad(true);
      master.mutable_grad() = layout_.view(weights.grads, entry.name);
    }
    masters_.emplace(entry.name, master);
  }
  refresh();
}

void Trm::refresh() {
  const auto bind = [&](const std::string& name) {
    const std::string gate_up = name + ".gate_up_proj.weight";
    const std::string down = name + ".down_proj.weight";
    return SwigluWeights{masters_.at(gate_up), masters_.at(down), layout_.view(copy_, gate_up),
                         layout_.view(copy_, down)};
  };
  blocks_.clear();
  const model::Network network = model::networks(config_).front();
  for (int64_t i = 0; i < network.num_layers; ++i) {
    const std::string layer = model::layer_name(network, i);
    Block block{bind(layer + ".mlp_t"), bind(layer + ".mlp")};
    block.tokens.gate_up_copy = block.tokens.gate_up_copy.t().contiguous();
    blocks_.push_back(block);
  }
}

States Trm::initial_states(int64_t boards) const {
  const std::vector<int64_t> sizes = {boards, config_.seq_len, config_.hidden_size};
  return {initial_.h.expand(sizes).contiguous(), initial_.l.expand(sizes).contiguous()};
}

at::Tensor Trm::cast(std::string_view name) const {
  return masters_.find(name)->second.to(copy_.scalar_type());
}

// A lookup as a product with one-hot rows: exact, and its gradient is a product too.
at::Tensor Trm::embed(const at::Tensor& inputs) const {
  const at::Tensor tokens = at::arange(padded_vocab(config_), inputs.options());
  const at::Tensor one_hot = inputs.reshape({-1, 1}).eq(tokens).to(copy_.scalar_type());
  const at::Tensor table =
      cast("embed_tokens.embedding_weight") * std::sqrt(static_cast<double>(config_.hidden_size));
  return at::mm(one_hot, pad_rows(table, padded_vocab(config_)))
      .view({inputs.size(0), inputs.size(1), config_.hidden_size});
}

at::Tensor Trm::net(const at::Tensor& h) const {
  at::Tensor out = h;
  for (const Block& block : blocks_) {
    out = mix_tokens(out, block.tokens, config_.rms_norm_eps);
    out = mix_channels(out, block.channels, config_.rms_norm_eps);
  }
  return out;
}

States Trm::round(States states, const at::Tensor& x) const {
  const at::Tensor injection = states.h + x;
  for (int64_t i = 0; i < config_.l_cycles; ++i) states.l = net(states.l + injection);
  states.h = net(states.h + states.l);
  return states;
}

States Trm::rounds_without_gradients(const States& states, const at::Tensor& x,
                                     int64_t chunk) const {
  const at::NoGradGuard no_gradients;
  if (config_.h_cycles == 1) return states;
  const States out{at::empty_like(states.h), at::empty_like(states.l)};
  const int64_t boards = x.size(0);
  for (int64_t begin = 0; begin < boards; begin += chunk) {
    const int64_t count = std::min(chunk, boards - begin);
    const auto part = [&](const at::Tensor& all) { return all.narrow(0, begin, count); };
    States some{part(states.h), part(states.l)};
    for (int64_t i = 0; i + 1 < config_.h_cycles; ++i) some = round(some, part(x));
    part(out.h).copy_(some.h);
    part(out.l).copy_(some.l);
  }
  return out;
}

StepOutput Trm::step(const States& states, const at::Tensor& inputs, int64_t chunk) const {
  DRIFTLESS_REQUIRE(inputs.dim() == 2 && inputs.size(1) == config_.seq_len,
                    ErrorCode::InvalidArgument, "lab: got inputs of shape ", inputs.sizes(),
                    ", expected [boards, ", config_.seq_len, "]");
  const at::Tensor x = embed(inputs);
  const States out = round(rounds_without_gradients(states, x.detach(), chunk), x);
  const at::Tensor head = pad_rows(cast("lm_head.weight"), padded_vocab(config_));
  const at::Tensor logits = at::matmul(out.h, head.t()).narrow(2, 0, config_.vocab_size);
  const at::Tensor halt =
      at::addmm(cast("q_head.bias"), out.h.select(1, 0), cast("q_head.weight").t());
  return {
      {out.h.detach(), out.l.detach()}, logits.to(at::kFloat), halt.select(1, 0).to(at::kFloat)};
}

}  // namespace driftless::lab
