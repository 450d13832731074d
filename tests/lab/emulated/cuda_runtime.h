// SPDX-License-Identifier: Apache-2.0
// As much of CUDA as kernels of driftless/lab/cuda/integers use, on a CPU: what nvcc's header is to
// them on a GPU. The threads of a block take turns and wait for each other where the kernel says
// so; blocks run one after the other.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __launch_bounds__(threads)
#define __shared__ static  // one block at a time

using cudaError_t = int;
constexpr cudaError_t cudaSuccess = 0;
inline cudaError_t cudaGetLastError() { return cudaSuccess; }
inline const char* cudaGetErrorString(cudaError_t) { return "none"; }

struct CudaIndex {
  unsigned x = 0;
};
inline CudaIndex threadIdx, blockIdx;

namespace driftless::lab::cuda::emulated {

/// Runs a kernel of one-dimensional blocks; `threads` is a multiple of 32.
void run(unsigned blocks, unsigned threads, const std::function<void()>& kernel);

/// Until all threads of the block, or of the warp, are there.
void sync_block();
void sync_warp();

/// A lane's bytes, at most kDeposit of them, for the other lanes of its warp to read after
/// sync_warp().
inline constexpr int kDeposit = 32;
unsigned char* deposit_of(unsigned lane);

/// The tensor cores' 16 x 8 x 32 product.
void multiply_add(int32_t (&sums)[2][2], const uint32_t (&left)[2][2], const uint32_t (&right)[2]);

}  // namespace driftless::lab::cuda::emulated

inline void __syncthreads() { driftless::lab::cuda::emulated::sync_block(); }
inline void __syncwarp() { driftless::lab::cuda::emulated::sync_warp(); }

template <class T>
T __shfl_xor_sync(unsigned /*mask*/, T value, int offset) {
  namespace emulated = driftless::lab::cuda::emulated;
  static_assert(sizeof(T) <= emulated::kDeposit);
  const unsigned lane = threadIdx.x % 32;
  __builtin_memcpy(emulated::deposit_of(lane), &value, sizeof(value));
  emulated::sync_warp();
  __builtin_memcpy(&value, emulated::deposit_of(lane ^ static_cast<unsigned>(offset)),
                   sizeof(value));
  emulated::sync_warp();
  return value;
}

inline float __fmaf_rn(float a, float b, float c) { return std::fma(a, b, c); }
inline float __fdiv_rn(float a, float b) { return a / b; }
inline int __float2int_rn(float a) { return static_cast<int>(std::lrint(a)); }
inline float __fsqrt_rn(float a) { return std::sqrt(a); }
using std::isnan;
inline float fabsf(float a) { return std::fabs(a); }
inline int64_t min(int64_t a, int64_t b) { return a < b ? a : b; }
inline int max(int a, int b) { return a > b ? a : b; }
