// SPDX-License-Identifier: Apache-2.0
// Reductions over the threads of a team within a warp, and over those of a block.
#pragma once

#include <cuda_runtime.h>

namespace driftless::lab::cuda {

// fmaxf drops NaN; a NaN must reach the output, where somebody sees it.
struct Larger {
  __device__ float operator()(float a, float b) const { return a > b || isnan(a) ? a : b; }
};
struct Sum {
  template <class T>
  __device__ T operator()(T a, T b) const {
    return a + b;
  }
};

/// Over `lanes` neighbors of a warp, a power of two; all get the result. Whole warps take part.
template <class T, class Op>
__device__ T team_reduce(T value, int lanes, Op op) {
#pragma unroll
  for (int offset = lanes / 2; offset > 0; offset /= 2)
    value = op(value, __shfl_xor_sync(0xffffffffu, value, offset));
  return value;
}

/// Over the kThreads threads of a block; all get the result.
template <int kThreads, class Op>
__device__ float block_reduce(float value, Op op) {
  __shared__ float values[kThreads];
  values[threadIdx.x] = value;
  __syncthreads();
  for (int half = kThreads / 2; half > 0; half /= 2) {
    if (threadIdx.x < half)
      values[threadIdx.x] = op(values[threadIdx.x], values[threadIdx.x + half]);
    __syncthreads();
  }
  return values[0];
}

}  // namespace driftless::lab::cuda
