// SPDX-License-Identifier: Apache-2.0
// Self-attention over all positions, in both directions, without masks.
#pragma once

#include <cstdint>

#include <ATen/ATen.h>

#include "driftless/lab/net/layers.h"
#include "driftless/lab/net/rope.h"

namespace driftless::lab {

struct AttentionWeights {
  LinearWeight qkv;  ///< [3 D, D]: all query heads, all key heads, all value heads
  LinearWeight output;
};

/// norm over D of h + attention(h), for h [B, T, D] and `heads` that divide D.
at::Tensor attend(const at::Tensor& h, const AttentionWeights& weights, int64_t heads, double eps,
                  const RopeTables& rope, const Site& site);

/// softmax(q k^T / sqrt(w)) v for q, k and v [B, H, T, w], differentiable. Torch's own where it has
/// one (attention_native.cc, from version 2 on), else tiled_attention (attention_fallback.cc).
at::Tensor scaled_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v);

/// The same in tiles of queries, so that memory stays bounded: at most `tile_values` scores exist
/// at a time, or those of one position. The backward pass computes them again.
inline constexpr int64_t kTileValues = int64_t{1} << 24;
at::Tensor tiled_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                           int64_t tile_values = kTileValues);

}  // namespace driftless::lab
