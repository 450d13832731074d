// SPDX-License-Identifier: Apache-2.0
// The models once more in float64 with plain operations, transposes and autograd, the recursion
// written out per architecture.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include <ATen/ATen.h>

#include "driftless/lab/net/recursive_net.h"

namespace driftless::lab::testing {

inline at::Tensor plain_norm(const at::Tensor& x, double eps) {
  return x / at::sqrt((x * x).mean(-1, true) + eps);
}

inline at::Tensor plain_swiglu(const at::Tensor& x, const at::Tensor& gate_up,
                               const at::Tensor& down) {
  const auto halves = at::matmul(x, gate_up.t()).chunk(2, -1);
  return at::matmul(at::silu(halves[0]) * halves[1], down.t());
}

/// x [B, H, T, w]: x * cos + rotate_half(x) * sin, on the halves of each head for rope2d. The
/// tables are rounded to float32, as the published code has them.
inline at::Tensor plain_rope(const at::Tensor& x, const model::ModelConfig& config) {
  const auto turn = [&](const at::Tensor& part, const at::Tensor& positions) {
    const int64_t width = part.size(3);
    const at::Tensor even = at::arange(0, width, 2, at::kDouble) / static_cast<double>(width);
    const at::Tensor angle =
        positions.to(at::kDouble).unsqueeze(1) / at::pow(config.rope_theta, even);
    const auto table = [](const at::Tensor& half) {
      return at::cat({half, half}, 1).to(at::kFloat).to(at::kDouble);
    };
    const auto halves = part.chunk(2, 3);
    return part * table(at::cos(angle)) +
           at::cat({-halves[1], halves[0]}, 3) * table(at::sin(angle));
  };
  const at::Tensor rows = at::arange(x.size(2), at::kLong);
  if (config.positions == model::Positions::Rope) return turn(x, rows);
  if (config.positions != model::Positions::Rope2d) return x;
  const auto halves = x.chunk(2, 3);
  return at::cat({turn(halves[0], rows.div(config.board_width, "floor")),
                  turn(halves[1], rows.remainder(config.board_width))},
                 3);
}

inline at::Tensor plain_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v) {
  const double scale = 1 / std::sqrt(static_cast<double>(q.size(3)));
  return at::matmul(at::softmax(at::matmul(q, k.transpose(2, 3)) * scale, 3), v);
}

struct PlainNet {
  model::ModelConfig config;
  NamedTensors w;                 // float64 leaves
  std::vector<at::Tensor> noise;  // EqR: one [B, T, D] per network call

  at::Tensor attention(const at::Tensor& h, const std::string& prefix) const {
    const auto parts = at::matmul(h, w.at(prefix + ".qkv_proj.weight").t()).chunk(3, 2);
    const auto split = [&](const at::Tensor& part) {
      return part.reshape({h.size(0), h.size(1), config.num_heads, -1}).transpose(1, 2);
    };
    const at::Tensor out = plain_attention(plain_rope(split(parts[0]), config),
                                           plain_rope(split(parts[1]), config), split(parts[2]));
    return at::matmul(out.transpose(1, 2).reshape(h.sizes()), w.at(prefix + ".o_proj.weight").t());
  }

  at::Tensor net(at::Tensor h, const std::string& name, int64_t layers) const {
    const double eps = config.rms_norm_eps;
    for (int64_t i = 0; i < layers; ++i) {
      const std::string layer = name + ".layers." + std::to_string(i);
      const auto mlp = [&](const at::Tensor& x, const std::string& which) {
        return plain_swiglu(x, w.at(layer + which + ".gate_up_proj.weight"),
                            w.at(layer + which + ".down_proj.weight"));
      };
      if (config.mixer == model::Mixer::Tokens) {
        const at::Tensor t = h.transpose(1, 2);
        h = plain_norm(t + mlp(t, ".mlp_t"), eps).transpose(1, 2);
      } else {
        h = plain_norm(h + attention(h, layer + ".self_attn"), eps);
      }
      h = plain_norm(h + mlp(h, ".mlp"), eps);
    }
    return h;
  }

  at::Tensor embed(const Inputs& inputs) const {
    at::Tensor x = w.at("embed_tokens.embedding_weight").index({inputs.tokens.to(at::kLong)});
    if (config.puzzle_emb_len > 0) {
      const int64_t rest = config.puzzle_emb_len * config.hidden_size - config.puzzle_emb_ndim;
      const at::Tensor prefix =
          at::cat({inputs.puzzles, at::zeros({x.size(0), rest}, at::kDouble)}, 1);
      x = at::cat({prefix.view({x.size(0), config.puzzle_emb_len, config.hidden_size}), x}, 1);
    }
    if (config.positions == model::Positions::Learned)
      x = 0.707106781 * (x + w.at("embed_pos.embedding_weight"));
    return x * std::sqrt(static_cast<double>(config.hidden_size));
  }

  StepOutput step(at::Tensor z_h, at::Tensor z_l, const Inputs& inputs) const {
    const bool is_hrm = config.arch == model::Arch::Hrm;
    const bool is_untied = config.arch == model::Arch::TrmUntied;
    const at::Tensor x = embed(inputs);
    size_t call = 0;
    const auto update = [&](const at::Tensor& state, const at::Tensor& injection,
                            const std::string& name, int64_t layers) {
      const at::Tensor next = net(state + injection, name, layers);
      ++call;
      if (config.arch != model::Arch::Eqr) return next;
      return (1 - config.lambda) * state + config.lambda * next +
             config.noise_scale * noise[call - 1];
    };
    const auto forget = [&] {
      z_h = z_h.detach();
      z_l = z_l.detach();
    };
    for (int64_t round = 0; round < config.h_cycles; ++round) {
      const bool is_last_round = round + 1 == config.h_cycles;
      if (is_last_round) forget();
      for (int64_t i = 0; i < config.l_cycles; ++i) {
        if (is_hrm && i + 1 == config.l_cycles) forget();
        const std::string name = is_untied ? "L_level.cycles." + std::to_string(i) : "L_level";
        z_l = update(z_l, z_h + x, name, config.num_layers);
      }
      const std::string name = is_hrm      ? "H_level"
                               : is_untied ? "L_level.cycles." + std::to_string(config.l_cycles)
                                           : "L_level";
      z_h = update(z_h, z_l, name, is_hrm ? config.h_layers : config.num_layers);
      if (config.arch == model::Arch::TrmStochastic)
        z_h = z_h + config.noise_scale * w.at("transition.log_scale").exp() * noise[call - 1];
    }
    const at::Tensor q =
        at::matmul(z_h.select(1, 0), w.at("q_head.weight").t()) + w.at("q_head.bias");
    const at::Tensor logits = at::matmul(z_h, w.at("lm_head.weight").t());
    return {{z_h, z_l},
            logits.narrow(1, config.puzzle_emb_len, config.seq_len),
            q.select(1, 0),
            q.select(1, 1)};
  }
};

}  // namespace driftless::lab::testing
