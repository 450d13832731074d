// SPDX-License-Identifier: Apache-2.0
// The gradient of the token mixer's state in one kernel. Gates and ups are computed again from the
// state, so that the forward pass leaves nothing but its result and the norm's factors.
//
// As forward (mix_tokens.cu), a warpgroup takes 64 columns of a board, transposed. With
// d_s = scale (d_y - y mean(d_y y)), for each chunk of 64 inner rows:
//
//   gate, up = x^T [gate, up]           d_act = d_s^T down
//   d_gate, d_up from silu'(gate)       d_h^T += d_gate gate^T + d_up up^T
//
// and d_h = d_s + those sums. d_s, act, d_gate and d_up go to device memory for the weights'
// gradients (token_gradients.cu). One tile [T, 64] of each of the three weight parts serves all
// products of a chunk, lying along the sum in some and across it in others.
//
//   shared memory   states[warpgroups][3]: x, y (later act and d_h), d_y (later d_s), each [T, 64]
//                   results[warpgroups][2]: d_gate, d_up, each [64, 64]
//                   weights[stages]: gate, up, down, each [T, 64]
#include <algorithm>

#include "driftless/lab/cuda/hopper/async.cuh"
#include "driftless/lab/cuda/hopper/mixers.h"
#include "driftless/lab/cuda/hopper/products.cuh"
#include "driftless/lab/cuda/hopper/tensor_map.h"
#include "driftless/lab/cuda/hopper/token_gradient_tiles.cuh"
#include "driftless/lab/cuda/hopper/token_items.cuh"
#include "driftless/lab/cuda/vector.cuh"

namespace driftless::lab::cuda {
namespace {

constexpr int kGroups = 2;
constexpr int kThreads = (kGroups + 1) * 128;
constexpr int kMostBytes = 227 * 1024 - 256;
constexpr int kResultBytes = kChunk * kTileRowBytes;

/// kDepth: T as a sum's length, a multiple of 16; kRows: T as a product's columns, of 8.
template <int kDepthOf, int kRowsOf>
struct Plan {
  static constexpr int kDepth = kDepthOf;
  static constexpr int kRows = kRowsOf;
  static constexpr int kTileBytes = kDepth * kTileRowBytes;
  static constexpr int kWeightBytes = 3 * kTileBytes;
  static constexpr int kOwnBytes = kGroups * (3 * kTileBytes + 2 * kResultBytes) + kTileAlignment;
  static constexpr int kStages = std::min(3, (kMostBytes - kOwnBytes) / kWeightBytes);
  static constexpr int kBytes = kOwnBytes + kStages * kWeightBytes;
  static_assert(kStages >= 2 && kTileBytes >= kResultBytes);
};

struct Work {
  TokenItems items;
  const float* scale;  ///< of the norm
};

struct Maps {
  CUtensorMap h, y, d_y, gate_up, down, d_h, d_s, act, d_gate_up;
};

template <int kStages>
struct Shared {
  Barrier y_full[kGroups];  ///< the tile of y
  Barrier y_empty[kGroups];
  Barrier rest_full[kGroups];  ///< those of x and d_y
  Barrier rest_empty[kGroups];
  Barrier weights_full[kStages];
  Barrier weights_empty[kStages];
};

template <class P>
__device__ void copy_states(const Work& work, const Maps& maps, uint8_t* states,
                            Shared<P::kStages>& shared, int group) {
  uint8_t* x = states + group * 3 * P::kTileBytes;
  uint8_t* y = x + P::kTileBytes;
  uint8_t* d_y = y + P::kTileBytes;
  uint32_t parity = 1;
  const int stride = gridDim.x * kGroups;
  for (int first = blockIdx.x * kGroups; first < work.items.count; first += stride, parity ^= 1) {
    const int item = item_of(work.items, first, group);
    const int column = column_of(work.items, item);
    const int board = board_of(work.items, item);
    wait(&shared.rest_empty[group], parity);
    arrive_expecting(&shared.rest_full[group], 2 * P::kTileBytes);
    load_tile(maps.d_y, d_y, &shared.rest_full[group], column, 0, board);
    load_tile(maps.h, x, &shared.rest_full[group], column, 0, board);
    wait(&shared.y_empty[group], parity);
    arrive_expecting(&shared.y_full[group], P::kTileBytes);
    load_tile(maps.y, y, &shared.y_full[group], column, 0, board);
  }
}

template <class P>
__device__ void copy_weights(const Work& work, const Maps& maps, uint8_t* weights,
                             Shared<P::kStages>& shared) {
  Turn<P::kStages> turn;
  const int stride = gridDim.x * kGroups;
  for (int first = blockIdx.x * kGroups; first < work.items.count; first += stride)
    for (int chunk = 0; chunk < work.items.chunks; ++chunk, turn.next()) {
      uint8_t* to = weights + turn.stage * P::kWeightBytes;
      Barrier* full = &shared.weights_full[turn.stage];
      wait(&shared.weights_empty[turn.stage], turn.parity ^ 1);
      arrive_expecting(full, P::kWeightBytes);
      load_tile(maps.gate_up, to, full, chunk * kChunk, 0);
      load_tile(maps.gate_up, to + P::kTileBytes, full, work.items.inner + chunk * kChunk, 0);
      load_tile(maps.down, to + 2 * P::kTileBytes, full, chunk * kChunk, 0);
    }
}

template <class P>
__device__ void differentiate(const Work& work, const Maps& maps, uint8_t* states, uint8_t* results,
                              uint8_t* weights, Shared<P::kStages>& shared) {
  const int group = threadIdx.x / 128;
  const int warp = threadIdx.x / 32 % 4;
  const int lane = threadIdx.x % 32;
  const bool is_first = threadIdx.x % 128 == 0;
  uint8_t* tiles = states + group * 3 * P::kTileBytes;
  uint8_t* out = results + group * 2 * kResultBytes;
  const uint32_t x = shared_address(tiles);
  const uint32_t y = x + P::kTileBytes;
  const uint32_t d_s = y + P::kTileBytes;
  Turn<P::kStages> turn;
  uint32_t parity = 0;
  const int stride = gridDim.x * kGroups;
  for (int first = blockIdx.x * kGroups; first < work.items.count; first += stride, parity ^= 1) {
    const int item = item_of(work.items, first, group);
    const int column = column_of(work.items, item);
    const int board = board_of(work.items, item);
    wait(&shared.rest_full[group], parity);
    wait(&shared.y_full[group], parity);
    norm_gradient<P>(work.items, work.scale, y, d_s, item, warp, lane);
    publish_writes();
    sync_threads(1 + group, 128);
    if (is_first) {
      store_tile(maps.d_s, tiles + 2 * P::kTileBytes, column, 0, board);
      commit_stores();
    }
    float gate_up[kChunk];
    float d_act[kChunk / 2];
    float d_h[P::kRows / 2];
    uint32_t act[kChunk / 4];
    uint32_t d_gate[kChunk / 4];
    uint32_t d_up[kChunk / 4];
#pragma unroll
    for (float& value : d_h) value = 0.0f;
    const auto weights_at = [&](int stage) {
      return shared_address(weights + stage * P::kWeightBytes);
    };
    const auto activate = [&] { differentiate_act(gate_up, d_act, act, d_gate, d_up); };
    const auto put = [&](int chunk) {
      if (is_first) wait_for_stores();
      sync_threads(1 + group, 128);
      const uint32_t to = shared_address(out);
      put_result(y, warp, lane, act);
      put_result(to, warp, lane, d_gate);
      put_result(to + kResultBytes, warp, lane, d_up);
      publish_writes();
      sync_threads(1 + group, 128);
      if (is_first) {
        store_tile(maps.act, tiles + P::kTileBytes, column, chunk * kChunk, board);
        store_tile(maps.d_gate_up, out, column, chunk * kChunk, board);
        store_tile(maps.d_gate_up, out + kResultBytes, column, work.items.inner + chunk * kChunk,
                   board);
        commit_stores();
      }
    };
    const auto settle_all = [&] {
      wait_for_products<0>();
      settle(gate_up);
      settle(d_act);
      settle(d_h);
      settle(d_gate);
      settle(d_up);
    };
    wait(&shared.weights_full[turn.stage], turn.parity);
    begin_products();
    multiply_up<P>(x, d_s, weights_at(turn.stage), gate_up, d_act);
    commit_products();
    wait_for_products<0>();
    settle(gate_up);
    settle(d_act);
    for (int chunk = 0; chunk + 1 < work.items.chunks; ++chunk) {
      const int here = turn.stage;
      turn.next();
      wait(&shared.weights_full[turn.stage], turn.parity);
      activate();
      begin_products();
      multiply_down<P>(d_gate, d_up, weights_at(here), d_h);
      multiply_up<P>(x, d_s, weights_at(turn.stage), gate_up, d_act);
      commit_products();
      put(chunk);
      settle_all();
      if (lane == 0) arrive(&shared.weights_empty[here]);
    }
    activate();
    begin_products();
    multiply_down<P>(d_gate, d_up, weights_at(turn.stage), d_h);
    commit_products();
    // The tiles of x and d_s are free once d_s is in registers.
    uint32_t kept[P::kRows / 4];
    load_state<P>(d_s, warp, lane, kept);
    put(work.items.chunks - 1);
    if (is_first) arrive(&shared.rest_empty[group]);
    settle_all();
    if (lane == 0) arrive(&shared.weights_empty[turn.stage]);
    turn.next();
    // d_h leaves over the last act.
    if (is_first) wait_for_stores();
    sync_threads(1 + group, 128);
    store_sum<P>(y, warp, lane, kept, d_h);
    publish_writes();
    sync_threads(1 + group, 128);
    if (is_first) {
      store_tile(maps.d_h, tiles + P::kTileBytes, column, 0, board);
      commit_stores();
      wait_for_stores();
      arrive(&shared.y_empty[group]);
    }
  }
}

template <class P>
__global__ __launch_bounds__(kThreads,
                             1) void mix_tokens_backward_kernel(Work work,
                                                                const __grid_constant__ Maps maps) {
  extern __shared__ uint8_t memory[];
  __shared__ Shared<P::kStages> shared;
  uint8_t* states = memory + (-shared_address(memory) & (kTileAlignment - 1));
  uint8_t* results = states + kGroups * 3 * P::kTileBytes;
  uint8_t* weights = results + kGroups * 2 * kResultBytes;
  if (threadIdx.x == 0) {
    for (int i = 0; i < kGroups; ++i) {
      init_barrier(&shared.y_full[i], 1);
      init_barrier(&shared.y_empty[i], 1);
      init_barrier(&shared.rest_full[i], 1);
      init_barrier(&shared.rest_empty[i], 1);
    }
    for (int i = 0; i < P::kStages; ++i) {
      init_barrier(&shared.weights_full[i], 1);
      init_barrier(&shared.weights_empty[i], 4 * kGroups);
    }
    publish_barriers();
  }
  __syncthreads();
  if (threadIdx.x < 128 * kGroups) {
    take_registers<240>();
    differentiate<P>(work, maps, states, results, weights, shared);
  } else {
    give_registers<24>();
    // One thread for the weights, one for the states of each warpgroup: none waits for another's.
    const int copier = threadIdx.x / 32 - 4 * kGroups;
    if (threadIdx.x % 32 == 0 && copier < kGroups)
      copy_states<P>(work, maps, states, shared, copier);
    else if (threadIdx.x % 32 == 0 && copier == kGroups)
      copy_weights<P>(work, maps, weights, shared);
  }
}

template <class P>
void launch(const MixerShape& shape, const TokenTrace& trace, const void* d_y,
            const void* gate_up_t, const void* down, const TokenGradients& out, Stream stream) {
  static const cudaError_t kAllowed = cudaFuncSetAttribute(
      mix_tokens_backward_kernel<P>, cudaFuncAttributeMaxDynamicSharedMemorySize, P::kBytes);
  DRIFTLESS_REQUIRE(kAllowed == cudaSuccess, ErrorCode::Internal,
                    "mix_tokens_backward: ", cudaGetErrorString(kAllowed));
  const StateShape& s = shape.state;
  const Work work{token_items(shape), trace.scale};
  const auto state = [&](const void* data) {
    return tensor_map({data, s.batch, s.positions, s.width, P::kDepth});
  };
  const auto weight = [&](const void* data, int64_t columns_of) {
    return tensor_map({data, 0, s.positions, columns_of, P::kDepth});
  };
  const auto result = [&](const void* data, int64_t rows) {
    return tensor_map({data, s.batch, rows, s.width, kChunk});
  };
  const Maps maps{state(trace.h),
                  state(trace.y),
                  state(d_y),
                  weight(gate_up_t, 2 * shape.inner),
                  weight(down, shape.inner),
                  state(out.d_h),
                  state(out.d_s),
                  result(out.act, shape.inner),
                  result(out.d_gate_up, 2 * shape.inner)};
  const auto groups = static_cast<int>(blocks_for(work.items.count, kGroups));
  mix_tokens_backward_kernel<P><<<std::min(groups, multiprocessors()), kThreads, P::kBytes,
                                  static_cast<cudaStream_t>(stream)>>>(work, maps);
}

}  // namespace

void mix_tokens_backward(const MixerShape& shape, const TokenTrace& trace, const void* d_y,
                         const void* gate_up_t, const void* down, const TokenGradients& out,
                         Stream stream) {
  const int64_t t = shape.state.positions;
  const auto run = [&](auto plan) {
    launch<decltype(plan)>(shape, trace, d_y, gate_up_t, down, out, stream);
  };
  if (t <= 64)
    run(Plan<64, 64>{});
  else if (t <= 88)
    run(Plan<96, 88>{});
  else
    run(Plan<112, 104>{});
  check_launch("mix_tokens_backward");
}

}  // namespace driftless::lab::cuda
