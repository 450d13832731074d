// SPDX-License-Identifier: Apache-2.0
// The token mixer in one kernel: a state is read once and written once.
//
// A warpgroup takes 64 columns of one board, transposed: x^T [64, T]. For each chunk of 64 inner
// rows it multiplies x^T by the chunk's gate and up weights [T, 64 + 64], takes silu(gate) * up in
// registers, where it lies as the next product wants its first operand, and adds act^T times the
// chunk of the down weights [64, T] to the sums o^T [64, T]. Residual and norm follow in registers.
//
//   shared memory   states[2][warpgroups]: [T, 64] as it lies in device memory, also the way out
//                   weights[stages]: gate [T, 64], up [T, 64], down [T, 64]
//
// One more warp copies ahead: the weights of all chunks, which the warpgroups share and the second-
// level cache holds, and the next states. Rows beyond T are zero everywhere and are not stored.
#include <algorithm>

#include "driftless/lab/cuda/hopper/async.cuh"
#include "driftless/lab/cuda/hopper/mixers.h"
#include "driftless/lab/cuda/hopper/products.cuh"
#include "driftless/lab/cuda/hopper/tensor_map.h"
#include "driftless/lab/cuda/hopper/token_items.cuh"
#include "driftless/lab/cuda/vector.cuh"

namespace driftless::lab::cuda {
namespace {

constexpr int kSharedBytes = 227 * 1024;

/// kDepth: T as a sum's length, a multiple of 16; kRows: T as a product's columns, of 8.
template <int kDepthOf, int kRowsOf, int kGroupsOf>
struct Plan {
  static constexpr int kDepth = kDepthOf;
  static constexpr int kRows = kRowsOf;
  static constexpr int kGroups = kGroupsOf;
  static constexpr int kThreads = (kGroups + 1) * 128;
  static constexpr int kRegisters = kGroups == 2 ? 240 : 160;  ///< of a multiplying thread
  static constexpr int kStateBytes = kDepth * kTileRowBytes;
  static constexpr int kWeightBytes = (2 * kDepth + kRows) * kTileRowBytes;
  static constexpr int kStages =
      std::min(4, (kSharedBytes - 2048 - 2 * kGroups * kStateBytes) / kWeightBytes);
  static constexpr int kBytes = 2 * kGroups * kStateBytes + kStages * kWeightBytes + kTileAlignment;
  static_assert(kStages >= 2 && kStateBytes % kTileAlignment == 0 &&
                kWeightBytes % kTileAlignment == 0);
};

struct Work {
  TokenItems items;
  float eps;
  float* scale;  ///< of the norm, for the backward pass; may be null
};

template <class P>
struct Shared {
  Barrier state_full[2][P::kGroups];
  Barrier state_empty[2][P::kGroups];
  Barrier weights_full[P::kStages];
  Barrier weights_empty[P::kStages];
};

template <class P>
__device__ void copy_ahead(const Work& work, const CUtensorMap& state, const CUtensorMap& gate_up,
                           const CUtensorMap& down, uint8_t* states, uint8_t* weights,
                           Shared<P>& shared) {
  Turn<P::kStages> turn;
  Turn<2> slot;
  const int stride = gridDim.x * P::kGroups;
  for (int first = blockIdx.x * P::kGroups; first < work.items.count;
       first += stride, slot.next()) {
    for (int group = 0; group < P::kGroups; ++group) {
      const int item = item_of(work.items, first, group);
      Barrier* full = &shared.state_full[slot.stage][group];
      wait(&shared.state_empty[slot.stage][group], slot.parity ^ 1);
      arrive_expecting(full, P::kStateBytes);
      load_tile(state, states + (slot.stage * P::kGroups + group) * P::kStateBytes, full,
                column_of(work.items, item), 0, board_of(work.items, item));
    }
    for (int chunk = 0; chunk < work.items.chunks; ++chunk, turn.next()) {
      uint8_t* to = weights + turn.stage * P::kWeightBytes;
      Barrier* full = &shared.weights_full[turn.stage];
      wait(&shared.weights_empty[turn.stage], turn.parity ^ 1);
      arrive_expecting(full, P::kWeightBytes);
      load_tile(gate_up, to, full, chunk * kChunk, 0);
      load_tile(gate_up, to + P::kStateBytes, full, work.items.inner + chunk * kChunk, 0);
      load_tile(down, to + 2 * P::kStateBytes, full, chunk * kChunk, 0);
    }
  }
}

/// inner = x^T times a chunk's gates, then its ups.
template <class P>
__device__ void multiply_up(uint32_t state, uint32_t weights, float (&inner)[kChunk]) {
  begin_products();
#pragma unroll
  for (int k = 0; k < P::kDepth / 16; ++k) {
    const uint32_t row = k * 16 * kTileRowBytes;
    Product<2 * kChunk>::template add<Along::Outer, Along::Outer>(
        inner, describe(state + row), describe(weights + row, P::kStateBytes), k > 0);
  }
  commit_products();
}

/// out += act^T times a chunk of down.
template <class P>
__device__ void multiply_down(const uint32_t (&act)[kChunk / 4], uint32_t weights,
                              float (&out)[P::kRows / 2]) {
  begin_products();
#pragma unroll
  for (int k = 0; k < kChunk / 16; ++k)
    Product<P::kRows>::template add<Along::Sum>(out, act + 4 * k, describe(weights + 32 * k), 1);
  commit_products();
}

/// y = norm(h + out) over the positions, from the tile of h to the same tile.
template <class P>
__device__ void add_and_norm(const Work& work, uint32_t state, int item, int warp, int lane,
                             const float (&out)[P::kRows / 2]) {
  uint32_t kept[P::kRows / 4];
  const int piece = 2 * warp + lane / 8 % 2;  // of this lane's addresses
  float squares[2] = {0.0f, 0.0f};
#pragma unroll
  for (int g = 0; g < P::kRows / 8; ++g) {
    uint32_t h[2];
    load_transposed(piece_address(state, 8 * g + lane % 8, piece), h);
#pragma unroll
    for (int half = 0; half < 2; ++half)
      kept[2 * g + half] =
          residual_pair(h[half], out[4 * g + 2 * half], out[4 * g + 2 * half + 1], squares[half]);
  }
  float scale[2];
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    float sum = squares[half];
    sum += __shfl_xor_sync(0xffffffffu, sum, 1);
    sum += __shfl_xor_sync(0xffffffffu, sum, 2);
    scale[half] = rsqrtf(sum * work.items.inverse_positions + work.eps);
    const int column = column_of(work.items, item) + 16 * warp + lane / 4 + 8 * half;
    if (work.scale != nullptr && lane % 4 == 0 && column < work.items.width)
      work.scale[static_cast<int64_t>(board_of(work.items, item)) * work.items.width + column] =
          scale[half];
  }
#pragma unroll
  for (int g = 0; g < P::kRows / 8; ++g) {
    uint32_t y[2];
#pragma unroll
    for (int half = 0; half < 2; ++half) y[half] = scaled_pair(kept[2 * g + half], scale[half]);
    store_transposed(piece_address(state, 8 * g + lane % 8, piece), y);
  }
}

template <class P>
__device__ void mix(const Work& work, const CUtensorMap& result, uint8_t* states, uint8_t* weights,
                    Shared<P>& shared) {
  const int group = threadIdx.x / 128;
  const int warp = threadIdx.x / 32 % 4;
  const int lane = threadIdx.x % 32;
  Turn<P::kStages> turn;
  Turn<2> slot;
  const int stride = gridDim.x * P::kGroups;
  for (int first = blockIdx.x * P::kGroups; first < work.items.count;
       first += stride, slot.next()) {
    uint8_t* tile = states + (slot.stage * P::kGroups + group) * P::kStateBytes;
    const uint32_t state = shared_address(tile);
    float inner[kChunk];
    float out[P::kRows / 2];
    uint32_t act[kChunk / 4];
#pragma unroll
    for (float& value : out) value = 0.0f;
    const auto weights_at = [&](int stage) {
      return shared_address(weights + stage * P::kWeightBytes);
    };
    const auto activate = [&] {
#pragma unroll
      for (int i = 0; i < kChunk / 4; ++i)
        act[i] = swiglu_pair(inner[2 * i], inner[2 * i + 1], inner[kChunk / 2 + 2 * i],
                             inner[kChunk / 2 + 2 * i + 1]);
    };
    wait(&shared.state_full[slot.stage][group], slot.parity);
    wait(&shared.weights_full[turn.stage], turn.parity);
    multiply_up<P>(state, weights_at(turn.stage), inner);
    wait_for_products<0>();
    settle(inner);
    for (int chunk = 1; chunk < work.items.chunks; ++chunk) {
      const int here = turn.stage;
      turn.next();
      wait(&shared.weights_full[turn.stage], turn.parity);
      activate();
      multiply_down<P>(act, weights_at(here) + 2 * P::kStateBytes, out);
      multiply_up<P>(state, weights_at(turn.stage), inner);
      wait_for_products<0>();
      settle(inner);
      settle(act);
      settle(out);
      if (lane == 0) arrive(&shared.weights_empty[here]);
    }
    activate();
    multiply_down<P>(act, weights_at(turn.stage) + 2 * P::kStateBytes, out);
    wait_for_products<0>();
    settle(act);
    settle(out);
    if (lane == 0) arrive(&shared.weights_empty[turn.stage]);
    turn.next();
    const int item = item_of(work.items, first, group);
    add_and_norm<P>(work, state, item, warp, lane, out);
    publish_writes();
    sync_threads(1 + group, 128);
    if (threadIdx.x % 128 == 0) {
      store_tile(result, tile, column_of(work.items, item), 0, board_of(work.items, item));
      commit_stores();
      wait_for_stores();
      arrive(&shared.state_empty[slot.stage][group]);
    }
  }
}

template <class P>
__global__ __launch_bounds__(P::kThreads,
                             1) void mix_tokens_kernel(Work work,
                                                       const __grid_constant__ CUtensorMap state,
                                                       const __grid_constant__ CUtensorMap result,
                                                       const __grid_constant__ CUtensorMap gate_up,
                                                       const __grid_constant__ CUtensorMap down) {
  extern __shared__ uint8_t memory[];
  __shared__ Shared<P> shared;
  uint8_t* states = memory + (-shared_address(memory) & (kTileAlignment - 1));
  uint8_t* weights = states + 2 * P::kGroups * P::kStateBytes;
  if (threadIdx.x == 0) {
    for (int i = 0; i < 2 * P::kGroups; ++i) {
      init_barrier(&shared.state_full[0][0] + i, 1);
      init_barrier(&shared.state_empty[0][0] + i, 1);
    }
    for (int i = 0; i < P::kStages; ++i) {
      init_barrier(&shared.weights_full[i], 1);
      init_barrier(&shared.weights_empty[i], 4 * P::kGroups);
    }
    publish_barriers();
  }
  __syncthreads();
  if (threadIdx.x < 128 * P::kGroups) {
    take_registers<P::kRegisters>();
    mix<P>(work, result, states, weights, shared);
  } else {
    give_registers<24>();
    if (threadIdx.x == 128 * P::kGroups)
      copy_ahead<P>(work, state, gate_up, down, states, weights, shared);
  }
}

template <class P>
void launch(const MixerShape& shape, const void* h, const void* gate_up_t, const void* down,
            float eps, void* y, float* scale, Stream stream) {
  static const cudaError_t kAllowed = cudaFuncSetAttribute(
      mix_tokens_kernel<P>, cudaFuncAttributeMaxDynamicSharedMemorySize, P::kBytes);
  DRIFTLESS_REQUIRE(kAllowed == cudaSuccess, ErrorCode::Internal,
                    "mix_tokens: ", cudaGetErrorString(kAllowed));
  const StateShape& s = shape.state;
  const Work work{token_items(shape), eps, scale};
  const auto state = [&](const void* data) {
    return tensor_map({data, s.batch, s.positions, s.width, P::kDepth});
  };
  const auto groups = static_cast<int>(blocks_for(work.items.count, P::kGroups));
  mix_tokens_kernel<P><<<std::min(groups, multiprocessors()), P::kThreads, P::kBytes,
                         static_cast<cudaStream_t>(stream)>>>(
      work, state(h), state(y), tensor_map({gate_up_t, 0, s.positions, 2 * shape.inner, P::kDepth}),
      tensor_map({down, 0, s.positions, shape.inner, P::kRows}));
}

}  // namespace

void mix_tokens(const MixerShape& shape, const void* h, const void* gate_up_t, const void* down,
                float eps, void* y, float* scale, Stream stream) {
  const int64_t t = shape.state.positions;
  const auto run = [&](auto plan) {
    launch<decltype(plan)>(shape, h, gate_up_t, down, eps, y, scale, stream);
  };
  if (t <= 32)
    run(Plan<32, 32, 3>{});
  else if (t <= 64)
    run(Plan<64, 64, 3>{});
  else if (t <= 88)
    run(Plan<96, 88, 3>{});
  else if (t <= 104)
    run(Plan<112, 104, 3>{});
  else
    run(Plan<128, 128, 2>{});
  check_launch("mix_tokens");
}

}  // namespace driftless::lab::cuda
