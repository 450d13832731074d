// SPDX-License-Identifier: Apache-2.0
// The channel mixer in two kernels: act = silu(gate) * up straight from the first product's sums,
// and y = norm(h + down act) straight from the second's. Gates, ups and updates never exist in
// device memory. Of the backward pass, the gradients of gates and ups straight from those of act.
//
// All are one product loop: a block makes a tile of 128 rows and 256 columns, two warpgroups 64
// rows each, from chunks of 64 along the sum that a further warp copies ahead into stages of shared
// memory:
//
//   a stage   rows [2][64, 64], columns [2][128, 64]
//   tiles     [2][2][64, 64]: 128 columns of the result on their way out
//
// The 256 columns are 128 gates and the 128 ups that belong to them, or a state's channels: then
// two more chunks bring the residual, 128 columns each. A width beyond 256 takes the two blocks of
// a cluster, which exchange the norm's sums.
#include <algorithm>

#include "driftless/lab/cuda/hopper/async.cuh"
#include "driftless/lab/cuda/hopper/channel_tiles.cuh"
#include "driftless/lab/cuda/hopper/mixers.h"
#include "driftless/lab/cuda/hopper/products.cuh"
#include "driftless/lab/cuda/hopper/tensor_map.h"
#include "driftless/lab/cuda/vector.cuh"

namespace driftless::lab::cuda {
namespace {

enum class Finish { Swiglu, Norm, Gradient };

struct Work {
  int units;   ///< tiles, or pairs of them where two blocks work together
  int across;  ///< units beside each other
  int chunks;  ///< of the sum
  int half;    ///< from the first 128 columns of a tile to the others in the weight, or from gates
               ///< to ups in memory
  float inverse_width;
  float eps;
};

struct Maps {
  CUtensorMap rows;
  CUtensorMap columns;
  CUtensorMap state;
  CUtensorMap out;
};

/// Where a block's tile begins: its row, its first row of the weight, its column of the result.
struct Place {
  int row;
  int weight_row;
  int column;
};
template <Finish kFinish>
__device__ Place place_of(const Work& work, int unit, int rank) {
  const int row = unit / work.across * kRows;
  if constexpr (kFinish == Finish::Norm) return {row, rank * kColumns, rank * kColumns};
  const int column = unit % work.across * (kFinish == Finish::Swiglu ? kColumns / 2 : kColumns);
  return {row, column, column};
}

template <Finish kFinish, int kBlocks>
__device__ void copy_ahead(const Work& work, const Maps& maps, uint8_t* stages,
                           ChannelShared& shared, int rank) {
  Turn<kStages> turn;
  const auto next_stage = [&](uint32_t bytes) {
    wait(&shared.empty[turn.stage], turn.parity ^ 1);
    arrive_expecting(&shared.full[turn.stage], bytes);
    return stages + turn.stage * kStageBytes;
  };
  const int stride = gridDim.x / kBlocks;
  for (int unit = blockIdx.x / kBlocks; unit < work.units; unit += stride) {
    const Place place = place_of<kFinish>(work, unit, rank);
    for (int chunk = 0; chunk < work.chunks; ++chunk, turn.next()) {
      uint8_t* to = next_stage(kStageBytes);
      Barrier* full = &shared.full[turn.stage];
      for (int i = 0; i < kGroups; ++i)
        load_tile(maps.rows, to + i * kRowTile, full, chunk * kChunk, place.row + i * kGroupRows);
      uint8_t* columns = to + kGroups * kRowTile;
      if constexpr (kFinish == Finish::Gradient)
        for (int i = 0; i < kColumns / kTileColumns; ++i)
          load_tile(maps.columns, columns + i * kRowTile, full, place.column + i * kTileColumns,
                    chunk * kChunk);
      else
        for (int i = 0; i < 2; ++i)
          load_tile(maps.columns, columns + i * kColumnTile, full, chunk * kChunk,
                    place.weight_row + i * work.half);
    }
    // Half a tile of the residual, or of gates, then of ups.
    constexpr int kParts = kFinish == Finish::Swiglu ? 0 : kFinish == Finish::Norm ? 1 : 2;
    for (int half = 0; half < 2; ++half)
      for (int part = 0; part < kParts; ++part, turn.next()) {
        uint8_t* to = next_stage(kResidualBytes);
        const int column = place.column + half * kColumns / 2 + part * work.half;
        for (int i = 0; i < kGroups * kOutTiles; ++i)
          load_tile(maps.state, to + i * kRowTile, &shared.full[turn.stage],
                    column + i % kOutTiles * kTileColumns, place.row + i / kOutTiles * kGroupRows);
      }
  }
}

/// sums = rows times columns over all chunks. Along says how the columns lie.
template <Along kAlong>
__device__ void multiply(const Work& work, const uint8_t* stages, ChannelShared& shared, int group,
                         int lane, Turn<kStages>& turn, float (&sums)[kColumns / 2]) {
#pragma unroll
  for (float& sum : sums) sum = 0.0f;
  int before = 0;
  for (int chunk = 0; chunk < work.chunks; ++chunk) {
    wait(&shared.full[turn.stage], turn.parity);
    const uint32_t rows = shared_address(stages + turn.stage * kStageBytes);
    const uint32_t columns = rows + kGroups * kRowTile;
    begin_products();
#pragma unroll
    for (int k = 0; k < kChunk / 16; ++k)
      Product<kColumns>::template add<Along::Sum, kAlong>(
          sums, describe(rows + group * kRowTile + 32 * k),
          kAlong == Along::Sum ? describe(columns + 32 * k)
                               : describe(columns + 16 * k * kTileRowBytes, kRowTile),
          1);
    commit_products();
    wait_for_products<1>();
    if (chunk > 0 && lane == 0) arrive(&shared.empty[before]);
    before = turn.stage;
    turn.next();
  }
  wait_for_products<0>();
  settle(sums);
  if (lane == 0) arrive(&shared.empty[before]);
}

template <Finish kFinish, int kBlocks>
__device__ void make_tiles(const Work& work, const Maps& maps, const uint8_t* stages,
                           uint8_t* tiles, ChannelShared& shared, int rank) {
  const int group = threadIdx.x / 128;
  const int warp = threadIdx.x / 32 % 4;
  const int lane = threadIdx.x % 32;
  uint8_t* out = tiles + group * kOutTiles * kRowTile;
  const uint32_t out_address = shared_address(out);
  Turn<kStages> turn;
  uint32_t parity = 0;
  const int stride = gridDim.x / kBlocks;
  for (int unit = blockIdx.x / kBlocks; unit < work.units; unit += stride, parity ^= 1) {
    const Place place = place_of<kFinish>(work, unit, rank);
    const int row = place.row + group * kGroupRows;
    float sums[kColumns / 2];
    multiply<kFinish == Finish::Gradient ? Along::Outer : Along::Sum>(work, stages, shared, group,
                                                                      lane, turn, sums);
    if constexpr (kFinish == Finish::Gradient) {
      finish_gradient(stages, shared, maps.out, out, group, warp, lane, work.half, place.column,
                      row, turn, sums);
    } else if constexpr (kFinish == Finish::Swiglu) {
      claim_tiles(group);
      finish_swiglu(out_address, warp, lane, sums);
      send_tiles(maps.out, out, group, place.column, row);
    } else {
      uint32_t kept[kColumns / 4];
      float scale[2] = {0.0f, 0.0f};
      add_residual(stages, shared, group, warp, lane, turn, sums, kept, scale);
      if constexpr (kBlocks == 2) exchange(shared, group, warp, lane, rank, parity, scale);
      for (float& value : scale) value = rsqrtf(value * work.inverse_width + work.eps);
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        claim_tiles(group);
#pragma unroll
        for (int pair = 0; pair < kColumns / 32; ++pair) {
          uint32_t y[4];
#pragma unroll
          for (int i = 0; i < 4; ++i)
            y[i] = scaled_pair(kept[half * kColumns / 8 + 4 * pair + i], scale[i % 2]);
          store_matrices(quad_address(out_address, warp, lane, pair), y);
        }
        send_tiles(maps.out, out, group, place.column + half * kColumns / 2, row);
      }
    }
  }
  if (threadIdx.x % 128 == 0) wait_for_stores();  // the tiles are gone with the block
}

template <Finish kFinish, int kBlocks>
__global__ __launch_bounds__(kThreads,
                             1) void mix_channels_kernel(Work work,
                                                         const __grid_constant__ Maps maps) {
  extern __shared__ uint8_t memory[];
  __shared__ ChannelShared shared;
  uint8_t* stages = memory + (-shared_address(memory) & (kTileAlignment - 1));
  uint8_t* tiles = stages + kStages * kStageBytes;
  const int rank = blockIdx.x % kBlocks;
  if (threadIdx.x == 0) {
    for (int i = 0; i < kStages; ++i) {
      init_barrier(&shared.full[i], 1);
      init_barrier(&shared.empty[i], 4 * kGroups);
    }
    for (int i = 0; i < kGroups; ++i) init_barrier(&shared.sums_full[i], 1);
    publish_barriers();
  }
  __syncthreads();
  if constexpr (kBlocks > 1) cluster_sync();
  if (threadIdx.x < kGroups * 128) {
    take_registers<240>();
    make_tiles<kFinish, kBlocks>(work, maps, stages, tiles, shared, rank);
  } else {
    give_registers<24>();
    if (threadIdx.x == kGroups * 128)
      copy_ahead<kFinish, kBlocks>(work, maps, stages, shared, rank);
    __syncwarp();
  }
  // Nobody leaves while the other block may still write here.
  if constexpr (kBlocks > 1) cluster_sync();
}

template <Finish kFinish, int kBlocks>
void launch(const Work& work, const Maps& maps, Stream stream) {
  const auto kernel = mix_channels_kernel<kFinish, kBlocks>;
  static const cudaError_t kAllowed =
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes);
  DRIFTLESS_REQUIRE(kAllowed == cudaSuccess, ErrorCode::Internal,
                    "mix_channels: ", cudaGetErrorString(kAllowed));
  cudaLaunchAttribute cluster{};
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim = {kBlocks, 1, 1};
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(std::min(work.units, multiprocessors() / kBlocks) * kBlocks);
  config.blockDim = dim3(kThreads);
  config.dynamicSmemBytes = kBytes;
  config.stream = static_cast<cudaStream_t>(stream);
  config.attrs = &cluster;
  config.numAttrs = kBlocks > 1 ? 1 : 0;
  cudaLaunchKernelEx(&config, kernel, work, maps);
  check_launch("mix_channels");
}

int ceil_divide(int64_t value, int64_t piece) {
  return static_cast<int>((value + piece - 1) / piece);
}

/// act = silu(gate) * up of h's products.
void activate(const MixerShape& shape, const void* h, const void* gate_up, const void* act,
              Stream stream) {
  const int64_t width = shape.state.width;
  const int64_t rows = shape.state.batch * shape.state.positions;
  const int across = ceil_divide(shape.inner, kColumns / 2);
  const Maps maps{tensor_map({h, 0, rows, width, kGroupRows}),
                  tensor_map({gate_up, 0, 2 * shape.inner, width, kColumns / 2}),
                  {},
                  tensor_map({act, 0, rows, shape.inner, kGroupRows})};
  const Work work{ceil_divide(rows, kRows) * across, across, ceil_divide(width, kChunk),
                  static_cast<int>(shape.inner),     0.0f,   0.0f};
  launch<Finish::Swiglu, 1>(work, maps, stream);
}

/// y = norm(h + act's product).
void add_and_norm(const MixerShape& shape, const void* h, const void* act, const void* down,
                  float eps, const void* y, Stream stream) {
  const int64_t width = shape.state.width;
  const int64_t rows = shape.state.batch * shape.state.positions;
  const auto state = [&](const void* data) {
    return tensor_map({data, 0, rows, width, kGroupRows});
  };
  const Maps maps{tensor_map({act, 0, rows, shape.inner, kGroupRows}),
                  tensor_map({down, 0, width, shape.inner, kColumns / 2}), state(h), state(y)};
  const Work work{ceil_divide(rows, kRows),         1,
                  ceil_divide(shape.inner, kChunk), kColumns / 2,
                  1.0f / static_cast<float>(width), eps};
  if (width <= kColumns)
    launch<Finish::Norm, 1>(work, maps, stream);
  else
    launch<Finish::Norm, 2>(work, maps, stream);
}

}  // namespace

void mix_channels(const MixerShape& shape, const void* h, const void* gate_up, const void* down,
                  float eps, void* act, void* y, Stream stream) {
  activate(shape, h, gate_up, act, stream);
  add_and_norm(shape, h, act, down, eps, y, stream);
}

void channel_act_backward(const MixerShape& shape, const void* d_s, const void* down,
                          const void* gate_up, void* d_gate_up, Stream stream) {
  const int64_t width = shape.state.width;
  const int64_t rows = shape.state.batch * shape.state.positions;
  const int across = ceil_divide(shape.inner, kColumns);
  const auto pairs = [&](const void* data) {
    return tensor_map({data, 0, rows, 2 * shape.inner, kGroupRows});
  };
  const Maps maps{tensor_map({d_s, 0, rows, width, kGroupRows}),
                  tensor_map({down, 0, width, shape.inner, kChunk}), pairs(gate_up),
                  pairs(d_gate_up)};
  launch<Finish::Gradient, 1>(
      {ceil_divide(rows, kRows) * across, across, ceil_divide(width, kChunk),
       static_cast<int>(shape.inner), 0.0f, 0.0f},
      maps, stream);
}

}  // namespace driftless::lab::cuda
