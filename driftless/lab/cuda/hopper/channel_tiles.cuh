// SPDX-License-Identifier: Apache-2.0
// What a warpgroup of mix_channels.cu makes of its sums, [64, 256] in registers, with tiles in
// shared memory: those that a stage brings, and those of a result on its way out.
#pragma once

#include <cstdint>

#include "driftless/lab/cuda/hopper/async.cuh"
#include "driftless/lab/cuda/hopper/products.cuh"

namespace driftless::lab::cuda {

constexpr int kGroups = 2;
constexpr int kThreads = (kGroups + 1) * 128;
constexpr int kGroupRows = 64;
constexpr int kRows = kGroups * kGroupRows;
constexpr int kColumns = 256;
constexpr int kChunk = kTileColumns;
constexpr int kRowTile = kGroupRows * kTileRowBytes;       // [64, 64], 8 KB
constexpr int kColumnTile = kColumns / 2 * kTileRowBytes;  // [128, 64], 16 KB
constexpr int kStageBytes = kGroups * kRowTile + 2 * kColumnTile;

constexpr int kStages = 4;
constexpr int kOutTiles = 2;  // of a warpgroup
constexpr int kBytes = kStages * kStageBytes + kGroups * kOutTiles * kRowTile + kTileAlignment;
constexpr int kResidualBytes = kGroups * kOutTiles * kRowTile;  // of a chunk

struct ChannelShared {
  Barrier full[kStages];
  Barrier empty[kStages];
  Barrier sums_full[kGroups];
  float sums[2][kGroups][kGroupRows];  ///< of squares, from the other block; turns alternate
};

/// Where a lane's 16 bytes of four 8x8 matrices lie in the warpgroup's tiles: rows 0 to 7 and 8 to
/// 15 of the warp, columns 16 pair to 16 pair + 15.
__device__ inline uint32_t quad_address(uint32_t tiles, int warp, int lane, int pair) {
  const int piece = 2 * pair + lane / 16;
  return piece_address(tiles + piece / 8 * kRowTile, 16 * warp + lane % 16, piece % 8);
}

/// Gives a warpgroup its tiles back, and sends them off.
__device__ inline void claim_tiles(int group) {
  if (threadIdx.x % 128 == 0) wait_for_stores();
  sync_threads(1 + group, 128);
}
__device__ inline void send_tiles(const CUtensorMap& map, const uint8_t* tiles, int group, int x,
                                  int y) {
  publish_writes();
  sync_threads(1 + group, 128);
  if (threadIdx.x % 128 > 0) return;
  for (int i = 0; i < kOutTiles; ++i)
    store_tile(map, tiles + i * kRowTile, x + i * kTileColumns, y);
  commit_stores();
}

/// act = silu(gate) * up, of sums that are 128 gates, then 128 ups.
__device__ inline void finish_swiglu(uint32_t tiles, int warp, int lane,
                                     const float (&sums)[kColumns / 2]) {
#pragma unroll
  for (int pair = 0; pair < kColumns / 32; ++pair) {
    uint32_t act[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int at = 8 * pair + 2 * i;
      act[i] =
          swiglu_pair(sums[at], sums[at + 1], sums[kColumns / 4 + at], sums[kColumns / 4 + at + 1]);
    }
    store_matrices(quad_address(tiles, warp, lane, pair), act);
  }
}

/// h + sums, rounded, and the sums of its squares of rows lane / 4 and lane / 4 + 8.
__device__ inline void add_residual(const uint8_t* stages, ChannelShared& shared, int group,
                                    int warp, int lane, Turn<kStages>& turn,
                                    const float (&sums)[kColumns / 2],
                                    uint32_t (&kept)[kColumns / 4], float (&squares)[2]) {
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    wait(&shared.full[turn.stage], turn.parity);
    const uint32_t tiles =
        shared_address(stages + turn.stage * kStageBytes + group * kOutTiles * kRowTile);
#pragma unroll
    for (int pair = 0; pair < kColumns / 32; ++pair) {
      uint32_t h[4];
      load_matrices(quad_address(tiles, warp, lane, pair), h);
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int at = half * kColumns / 8 + 4 * pair + i;
        kept[at] = residual_pair(h[i], sums[2 * at], sums[2 * at + 1], squares[i % 2]);
      }
    }
    __syncwarp();
    if (lane == 0) arrive(&shared.empty[turn.stage]);
    turn.next();
  }
#pragma unroll
  for (float& sum : squares) {
    sum += __shfl_xor_sync(0xffffffffu, sum, 1);
    sum += __shfl_xor_sync(0xffffffffu, sum, 2);
  }
}

/// d_gate and d_up of sums that are gradients of act, with gates and ups of the forward pass.
__device__ inline void finish_gradient(const uint8_t* stages, ChannelShared& shared,
                                       const CUtensorMap& map, uint8_t* out, int group, int warp,
                                       int lane, int half_width, int x, int y, Turn<kStages>& turn,
                                       const float (&sums)[kColumns / 2]) {
  constexpr int kPairs = kColumns / 8;  // of half a tile
  const uint32_t out_address = shared_address(out);
  const auto next_tiles = [&] {
    wait(&shared.full[turn.stage], turn.parity);
    return shared_address(stages + turn.stage * kStageBytes + group * kOutTiles * kRowTile);
  };
  const auto release = [&] {
    __syncwarp();
    if (lane == 0) arrive(&shared.empty[turn.stage]);
    turn.next();
  };
  const auto put = [&](const uint32_t(&values)[kPairs], int column) {
    claim_tiles(group);
#pragma unroll
    for (int pair = 0; pair < kPairs / 4; ++pair) {
      const uint32_t part[4] = {values[4 * pair], values[4 * pair + 1], values[4 * pair + 2],
                                values[4 * pair + 3]};
      store_matrices(quad_address(out_address, warp, lane, pair), part);
    }
    send_tiles(map, out, group, column, y);
  };
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    uint32_t gates[kPairs];
    uint32_t ups[kPairs];
    const uint32_t gate_tiles = next_tiles();
#pragma unroll
    for (int pair = 0; pair < kPairs / 4; ++pair) {
      uint32_t part[4];
      load_matrices(quad_address(gate_tiles, warp, lane, pair), part);
#pragma unroll
      for (int i = 0; i < 4; ++i) gates[4 * pair + i] = part[i];
    }
    release();
    const uint32_t up_tiles = next_tiles();
#pragma unroll
    for (int pair = 0; pair < kPairs / 4; ++pair) {
      uint32_t part[4];
      load_matrices(quad_address(up_tiles, warp, lane, pair), part);
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int at = 4 * pair + i;
        const float* d = sums + half * kColumns / 4 + 2 * at;
        const SwigluPair result = swiglu_gradient_pair(gates[at], part[i], pack(d[0], d[1]));
        gates[at] = result.d_gate;
        ups[at] = result.d_up;
      }
    }
    release();
    put(gates, x + half * kColumns / 2);
    put(ups, x + half * kColumns / 2 + half_width);
  }
}

/// Adds the other block's sums of squares of the same rows.
__device__ inline void exchange(ChannelShared& shared, int group, int warp, int lane, int rank,
                                uint32_t parity, float (&squares)[2]) {
  const int row = 16 * warp + lane / 4;
  float* received = shared.sums[parity][group];
  Barrier* barrier = &shared.sums_full[group];
  if (threadIdx.x % 128 == 0) arrive_expecting(barrier, kGroupRows * sizeof(float));
  if (lane % 4 == 0)
    for (int i = 0; i < 2; ++i) send(squares[i], &received[row + 8 * i], barrier, rank ^ 1);
  wait<Scope::Cluster>(barrier, parity);
  for (int i = 0; i < 2; ++i) squares[i] += received[row + 8 * i];
}

}  // namespace driftless::lab::cuda
