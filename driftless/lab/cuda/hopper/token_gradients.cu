// SPDX-License-Identifier: Apache-2.0
// The gradients of a token mixer's weights: sums over all boards and columns of act d_s^T and of
// d_gate_up h^T, [3 inner, T] in all. A block takes 256 of these rows and every n-th board, so that
// act and d_gate_up are read once; the caller adds up the parts, in a fixed order.
#include <algorithm>

#include "driftless/lab/cuda/hopper/async.cuh"
#include "driftless/lab/cuda/hopper/mixers.h"
#include "driftless/lab/cuda/hopper/products.cuh"
#include "driftless/lab/cuda/hopper/tensor_map.h"
#include "driftless/lab/cuda/vector.cuh"

namespace driftless::lab::cuda {
namespace {

constexpr int kGroups = 2;
constexpr int kThreads = (kGroups + 1) * 128;
constexpr int kStages = 4;
constexpr int kSliceRows = 256;
constexpr int kSliceBytes = kSliceRows * kTileRowBytes;
constexpr int kPerGroup = kSliceRows / 64 / kGroups;  // products of 64 rows

/// kRows: T as a product's columns, a multiple of 8.
template <int kRowsOf>
struct Plan {
  static constexpr int kRows = kRowsOf;
  // A whole number of 1024 bytes, so that the next stage is aligned.
  static constexpr int kStageBytes = kSliceBytes + kRows * kTileRowBytes;
  static constexpr int kBytes = kStages * kStageBytes + kTileAlignment;
  static_assert(kStageBytes % kTileAlignment == 0);
};

struct Work {
  int batch;
  int chunks;      ///< of 64 columns of a board
  int act_slices;  ///< the first slices are act's
  int slices;
  int parts;
  float* sums;  ///< [parts, slices * 256, kRows]
};

struct Maps {
  CUtensorMap h, d_s, act, d_gate_up;
};

struct Shared {
  Barrier full[kStages];
  Barrier empty[kStages];
};

template <class P>
__device__ void copy_ahead(const Work& work, const Maps& maps, uint8_t* stages, Shared& shared) {
  const int slice = blockIdx.x % work.slices;
  const bool is_act = slice < work.act_slices;
  const CUtensorMap& rows = is_act ? maps.act : maps.d_gate_up;
  const CUtensorMap& columns = is_act ? maps.d_s : maps.h;
  const int first_row = (is_act ? slice : slice - work.act_slices) * kSliceRows;
  Turn<kStages> turn;
  for (int board = blockIdx.x / work.slices; board < work.batch; board += work.parts)
    for (int chunk = 0; chunk < work.chunks; ++chunk, turn.next()) {
      uint8_t* to = stages + turn.stage * P::kStageBytes;
      Barrier* full = &shared.full[turn.stage];
      wait(&shared.empty[turn.stage], turn.parity ^ 1);
      arrive_expecting(full, P::kStageBytes);
      load_tile(rows, to, full, chunk * kTileColumns, first_row, board);
      load_tile(columns, to + kSliceBytes, full, chunk * kTileColumns, 0, board);
    }
}

template <class P>
__device__ void add_up(const Work& work, const uint8_t* stages, Shared& shared) {
  const int group = threadIdx.x / 128;
  const int warp = threadIdx.x / 32 % 4;
  const int lane = threadIdx.x % 32;
  float sums[kPerGroup][P::kRows / 2];
#pragma unroll
  for (int i = 0; i < kPerGroup; ++i)
#pragma unroll
    for (float& sum : sums[i]) sum = 0.0f;
  const int slice = blockIdx.x % work.slices;
  const int part = blockIdx.x / work.slices;
  const int boards = (work.batch - part + work.parts - 1) / work.parts;
  const int chunks = boards * work.chunks;
  Turn<kStages> turn;
  int before = 0;
  for (int chunk = 0; chunk < chunks; ++chunk) {
    wait(&shared.full[turn.stage], turn.parity);
    const uint32_t rows = shared_address(stages + turn.stage * P::kStageBytes);
    const uint32_t columns = rows + kSliceBytes;
    begin_products();
#pragma unroll
    for (int k = 0; k < kTileColumns / 16; ++k)
#pragma unroll
      for (int i = 0; i < kPerGroup; ++i)
        Product<P::kRows>::template add<Along::Sum, Along::Sum>(
            sums[i], describe(rows + (group * kPerGroup + i) * 64 * kTileRowBytes + 32 * k),
            describe(columns + 32 * k), 1);
    commit_products();
    wait_for_products<1>();
    if (chunk > 0 && lane == 0) arrive(&shared.empty[before]);
    before = turn.stage;
    turn.next();
  }
  wait_for_products<0>();
#pragma unroll
  for (int i = 0; i < kPerGroup; ++i) settle(sums[i]);
#pragma unroll
  for (int i = 0; i < kPerGroup; ++i)
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int64_t row = (static_cast<int64_t>(part) * work.slices + slice) * kSliceRows +
                          (group * kPerGroup + i) * 64 + 16 * warp + lane / 4 + 8 * half;
      float* to = work.sums + row * P::kRows + 2 * (lane % 4);
#pragma unroll
      for (int g = 0; g < P::kRows / 8; ++g)
        *reinterpret_cast<float2*>(to + 8 * g) =
            make_float2(sums[i][4 * g + 2 * half], sums[i][4 * g + 2 * half + 1]);
    }
}

template <class P>
__global__ __launch_bounds__(kThreads,
                             1) void token_gradients_kernel(Work work,
                                                            const __grid_constant__ Maps maps) {
  extern __shared__ uint8_t memory[];
  __shared__ Shared shared;
  uint8_t* stages = memory + (-shared_address(memory) & (kTileAlignment - 1));
  if (threadIdx.x == 0) {
    for (int i = 0; i < kStages; ++i) {
      init_barrier(&shared.full[i], 1);
      init_barrier(&shared.empty[i], 4 * kGroups);
    }
    publish_barriers();
  }
  __syncthreads();
  if (threadIdx.x < 128 * kGroups) {
    take_registers<240>();
    add_up<P>(work, stages, shared);
  } else {
    give_registers<24>();
    if (threadIdx.x == 128 * kGroups) copy_ahead<P>(work, maps, stages, shared);
  }
}

template <class P>
void launch(const MixerShape& shape, const void* h, const TokenGradients& gradients,
            const GradientParts& parts, float* sums, Stream stream) {
  static const cudaError_t kAllowed = cudaFuncSetAttribute(
      token_gradients_kernel<P>, cudaFuncAttributeMaxDynamicSharedMemorySize, P::kBytes);
  DRIFTLESS_REQUIRE(kAllowed == cudaSuccess, ErrorCode::Internal,
                    "token_gradients: ", cudaGetErrorString(kAllowed));
  const StateShape& s = shape.state;
  const auto slices = static_cast<int>(3 * shape.inner / kSliceRows);
  const Work work{static_cast<int>(s.batch),
                  static_cast<int>((s.width + kTileColumns - 1) / kTileColumns),
                  slices / 3,
                  slices,
                  static_cast<int>(parts.count),
                  sums};
  const auto rows = [&](const void* data, int64_t count) {
    return tensor_map({data, s.batch, count, s.width, kSliceRows});
  };
  const auto columns = [&](const void* data) {
    return tensor_map({data, s.batch, s.positions, s.width, P::kRows});
  };
  const Maps maps{columns(h), columns(gradients.d_s), rows(gradients.act, shape.inner),
                  rows(gradients.d_gate_up, 2 * shape.inner)};
  token_gradients_kernel<P>
      <<<slices * work.parts, kThreads, P::kBytes, static_cast<cudaStream_t>(stream)>>>(work, maps);
}

int columns_of(int64_t positions) {
  return positions <= 32 ? 32 : positions <= 64 ? 64 : positions <= 88 ? 88 : 104;
}

}  // namespace

GradientParts gradient_parts(const MixerShape& shape) {
  const int64_t slices = 3 * shape.inner / kSliceRows;
  return {std::clamp<int64_t>(multiprocessors() / slices, 1, shape.state.batch), 3 * shape.inner,
          columns_of(shape.state.positions)};
}

void token_gradients(const MixerShape& shape, const void* h, const TokenGradients& gradients,
                     float* sums, Stream stream) {
  const GradientParts parts = gradient_parts(shape);
  const auto run = [&](auto plan) {
    launch<decltype(plan)>(shape, h, gradients, parts, sums, stream);
  };
  switch (parts.columns) {
    case 32:
      run(Plan<32>{});
      break;
    case 64:
      run(Plan<64>{});
      break;
    case 88:
      run(Plan<88>{});
      break;
    default:
      run(Plan<104>{});
      break;
  }
  check_launch("token_gradients");
}

}  // namespace driftless::lab::cuda
