// SPDX-License-Identifier: Apache-2.0
// What a warpgroup of mix_tokens_backward.cu does with the tiles that lie in shared memory. Of a
// plan P, kDepth is T as a sum's length, kRows T as a product's columns.
#pragma once

#include <cstdint>

#include "driftless/lab/cuda/hopper/async.cuh"
#include "driftless/lab/cuda/hopper/products.cuh"
#include "driftless/lab/cuda/hopper/token_items.cuh"

namespace driftless::lab::cuda {

/// d_s from y and d_y, to the tile of d_y.
template <class P>
__device__ void norm_gradient(const TokenItems& items, const float* norm_scale, uint32_t y_tile,
                              uint32_t d_tile, int item, int warp, int lane) {
  const int piece = 2 * warp + lane / 8 % 2;  // of this lane's addresses
  uint32_t y[P::kRows / 4];
  uint32_t d[P::kRows / 4];
  float dots[2] = {0.0f, 0.0f};
#pragma unroll
  for (int g = 0; g < P::kRows / 8; ++g) {
    uint32_t y_pair[2];
    uint32_t d_pair[2];
    load_transposed(piece_address(y_tile, 8 * g + lane % 8, piece), y_pair);
    load_transposed(piece_address(d_tile, 8 * g + lane % 8, piece), d_pair);
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      y[2 * g + half] = y_pair[half];
      d[2 * g + half] = d_pair[half];
      dots[half] += low_of(y_pair[half]) * low_of(d_pair[half]) +
                    high_of(y_pair[half]) * high_of(d_pair[half]);
    }
  }
  float scale[2];
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    dots[half] += __shfl_xor_sync(0xffffffffu, dots[half], 1);
    dots[half] += __shfl_xor_sync(0xffffffffu, dots[half], 2);
    dots[half] *= items.inverse_positions;
    const int column = column_of(items, item) + 16 * warp + lane / 4 + 8 * half;
    scale[half] =
        column < items.width
            ? norm_scale[static_cast<int64_t>(board_of(items, item)) * items.width + column]
            : 0.0f;
  }
#pragma unroll
  for (int g = 0; g < P::kRows / 8; ++g) {
    uint32_t out[2];
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const uint32_t a = y[2 * g + half];
      const uint32_t b = d[2 * g + half];
      out[half] = pack(scale[half] * (low_of(b) - low_of(a) * dots[half]),
                       scale[half] * (high_of(b) - high_of(a) * dots[half]));
    }
    store_transposed(piece_address(d_tile, 8 * g + lane % 8, piece), out);
  }
}

/// gate_up = x^T times a chunk's gates, then its ups; d_act = d_s^T times its down.
template <class P>
__device__ void multiply_up(uint32_t x, uint32_t d_s, uint32_t weights, float (&gate_up)[kChunk],
                            float (&d_act)[kChunk / 2]) {
#pragma unroll
  for (int k = 0; k < P::kDepth / 16; ++k) {
    const uint32_t row = k * 16 * kTileRowBytes;
    Product<2 * kChunk>::template add<Along::Outer, Along::Outer>(
        gate_up, describe(x + row), describe(weights + row, P::kTileBytes), k > 0);
  }
#pragma unroll
  for (int k = 0; k < P::kDepth / 16; ++k) {
    const uint32_t row = k * 16 * kTileRowBytes;
    Product<kChunk>::template add<Along::Outer, Along::Outer>(
        d_act, describe(d_s + row), describe(weights + 2 * P::kTileBytes + row), k > 0);
  }
}

/// d_h += d_gate gate^T + d_up up^T of a chunk.
template <class P>
__device__ void multiply_down(const uint32_t (&d_gate)[kChunk / 4],
                              const uint32_t (&d_up)[kChunk / 4], uint32_t weights,
                              float (&d_h)[P::kRows / 2]) {
#pragma unroll
  for (int k = 0; k < kChunk / 16; ++k)
    Product<P::kRows>::template add<Along::Sum>(d_h, d_gate + 4 * k, describe(weights + 32 * k), 1);
#pragma unroll
  for (int k = 0; k < kChunk / 16; ++k)
    Product<P::kRows>::template add<Along::Sum>(d_h, d_up + 4 * k,
                                                describe(weights + P::kTileBytes + 32 * k), 1);
}

/// A warp's 16 columns of a transposed tile [64 columns, 64 inner] to the tile [64 inner, 64].
__device__ inline void put_result(uint32_t tile, int warp, int lane,
                                  const uint32_t (&values)[kChunk / 4]) {
#pragma unroll
  for (int k = 0; k < kChunk / 16; ++k) {
    const uint32_t part[4] = {values[4 * k], values[4 * k + 1], values[4 * k + 2],
                              values[4 * k + 3]};
    store_transposed(
        piece_address(tile, 16 * k + lane / 16 * 8 + lane % 8, 2 * warp + lane / 8 % 2), part);
  }
}

/// act and the gradients of its gates and ups, of a chunk.
__device__ inline void differentiate_act(const float (&gate_up)[kChunk],
                                         const float (&d_act)[kChunk / 2],
                                         uint32_t (&act)[kChunk / 4],
                                         uint32_t (&d_gate)[kChunk / 4],
                                         uint32_t (&d_up)[kChunk / 4]) {
#pragma unroll
  for (int i = 0; i < kChunk / 4; ++i) {
    const int up = kChunk / 2 + 2 * i;
    const SwigluPair pair = swiglu_gradient_pair(pack(gate_up[2 * i], gate_up[2 * i + 1]),
                                                 pack(gate_up[up], gate_up[up + 1]),
                                                 pack(d_act[2 * i], d_act[2 * i + 1]));
    act[i] = pair.act;
    d_gate[i] = pair.d_gate;
    d_up[i] = pair.d_up;
  }
}

/// A warp's 16 columns of a state's tile, transposed.
template <class P>
__device__ void load_state(uint32_t tile, int warp, int lane, uint32_t (&values)[P::kRows / 4]) {
  const int piece = 2 * warp + lane / 8 % 2;
#pragma unroll
  for (int g = 0; g < P::kRows / 8; ++g) {
    uint32_t pair[2];
    load_transposed(piece_address(tile, 8 * g + lane % 8, piece), pair);
    values[2 * g] = pair[0];
    values[2 * g + 1] = pair[1];
  }
}

/// d_s + d_h of the same columns to a tile.
template <class P>
__device__ void store_sum(uint32_t tile, int warp, int lane, const uint32_t (&d_s)[P::kRows / 4],
                          const float (&d_h)[P::kRows / 2]) {
  const int piece = 2 * warp + lane / 8 % 2;
#pragma unroll
  for (int g = 0; g < P::kRows / 8; ++g) {
    uint32_t pair[2];
#pragma unroll
    for (int half = 0; half < 2; ++half)
      pair[half] = pack(low_of(d_s[2 * g + half]) + d_h[4 * g + 2 * half],
                        high_of(d_s[2 * g + half]) + d_h[4 * g + 2 * half + 1]);
    store_transposed(piece_address(tile, 8 * g + lane % 8, piece), pair);
  }
}

}  // namespace driftless::lab::cuda
