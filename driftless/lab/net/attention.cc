// SPDX-License-Identifier: Apache-2.0
#include "driftless/lab/net/attention.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/custom_function.h>

namespace driftless::lab {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Function;
using torch::autograd::variable_list;

struct Tiles {
  int64_t positions;
  int64_t size;

  template <class Visit>
  void each(Visit visit) const {
    for (int64_t begin = 0; begin < positions; begin += size)
      visit(begin, std::min(size, positions - begin));
  }
};

Tiles tiles_of(const at::Tensor& q, int64_t tile_values) {
  const int64_t per_position = q.size(0) * q.size(1) * q.size(2);
  return {q.size(2), std::max<int64_t>(1, tile_values / per_position)};
}

double scale_of(const at::Tensor& q) { return 1 / std::sqrt(static_cast<double>(q.size(3))); }

at::Tensor shares(const at::Tensor& q, const at::Tensor& k) {
  return at::softmax(at::matmul(q, k.transpose(2, 3)).mul_(scale_of(q)), 3);
}

at::Tensor tiled_forward(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                         int64_t tile_values) {
  at::Tensor out = at::empty(q.sizes(), q.options());
  tiles_of(q, tile_values).each([&](int64_t begin, int64_t count) {
    out.narrow(2, begin, count).copy_(at::matmul(shares(q.narrow(2, begin, count), k), v));
  });
  return out;
}

struct TiledAttention : Function<TiledAttention> {
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& q, const at::Tensor& k,
                            const at::Tensor& v, int64_t tile_values) {
    ctx->save_for_backward({q, k, v});
    ctx->saved_data["tile_values"] = tile_values;
    return tiled_forward(q, k, v, tile_values);
  }

  // With p = softmax(s), o = p v: d_v = p^T d_o, d_p = d_o v^T, d_s = p * (d_p - sum(d_p * p)).
  static variable_list backward(AutogradContext* ctx, const variable_list& grads) {
    const variable_list saved = ctx->get_saved_variables();
    const at::Tensor& k = saved[1];
    const at::Tensor& v = saved[2];
    const at::Tensor d_q = at::empty(k.sizes(), k.options());
    const at::Tensor d_k = at::zeros(k.sizes(), k.options());
    const at::Tensor d_v = at::zeros(k.sizes(), k.options());
    tiles_of(k, ctx->saved_data["tile_values"].toInt()).each([&](int64_t begin, int64_t count) {
      const at::Tensor q = saved[0].narrow(2, begin, count);
      const at::Tensor d_out = grads[0].narrow(2, begin, count);
      const at::Tensor p = shares(q, k);
      d_v.add_(at::matmul(p.transpose(2, 3), d_out));
      const at::Tensor d_p = at::matmul(d_out, v.transpose(2, 3));
      const at::Tensor d_s = p * (d_p - (d_p * p).sum(3, true)) * scale_of(q);
      d_q.narrow(2, begin, count).copy_(at::matmul(d_s, k));
      d_k.add_(at::matmul(d_s.transpose(2, 3), q));
    });
    return {d_q, d_k, d_v, at::Tensor()};
  }
};

}  // namespace

at::Tensor tiled_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                           int64_t tile_values) {
  if (!at::GradMode::is_enabled()) return tiled_forward(q, k, v, tile_values);
  return TiledAttention::apply(q, k, v, tile_values);
}

at::Tensor attend(const at::Tensor& h, const AttentionWeights& weights, int64_t heads, double eps,
                  const RopeTables& rope, const Site& site) {
  const int64_t boards = h.size(0);
  const int64_t positions = h.size(1);
  const at::Tensor qkv = rotate(linear(h, weights.qkv, site), rope);
  // [3, B, H, T, w] as views; the gradient comes back as one stack.
  const std::vector<at::Tensor> parts =
      qkv.view({boards, positions, 3, heads, h.size(2) / heads}).permute({2, 0, 3, 1, 4}).unbind(0);
  const at::Tensor values = scaled_attention(parts[0], parts[1], parts[2]);
  const at::Tensor joined = values.transpose(1, 2).reshape(h.sizes());
  return residual_norm(h, linear(joined, weights.output, site), NormAxis::Channels, eps);
}

}  // namespace driftless::lab
