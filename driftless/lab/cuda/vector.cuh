// SPDX-License-Identifier: Apache-2.0
// 16-byte loads and stores of float32 or bfloat16 with float32 arithmetic between, for the
// kernels of this folder and its rooms.
#pragma once

#include <cstdint>

#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include "driftless/lab/cuda/kernels.h"
#include "driftless/lab/cuda/launch.cuh"

namespace driftless::lab::cuda {

template <class T>
struct Vec {
  static constexpr int kLength = 16 / sizeof(T);
  float x[kLength];
};

__device__ inline float round_to(float value, float /*type*/) { return value; }
__device__ inline float round_to(float value, __nv_bfloat16 /*type*/) {
  return __bfloat162float(__float2bfloat16(value));
}

template <class T>
__device__ Vec<T> load(const T* from) {
  const uint4 raw = *reinterpret_cast<const uint4*>(from);
  T values[Vec<T>::kLength];
  memcpy(values, &raw, sizeof(raw));
  Vec<T> vec;
#pragma unroll
  for (int i = 0; i < Vec<T>::kLength; ++i) vec.x[i] = static_cast<float>(values[i]);
  return vec;
}

template <class T>
__device__ void store(T* to, const Vec<T>& vec) {
  T values[Vec<T>::kLength];
#pragma unroll
  for (int i = 0; i < Vec<T>::kLength; ++i) values[i] = static_cast<T>(vec.x[i]);
  uint4 raw;
  memcpy(&raw, values, sizeof(raw));
  *reinterpret_cast<uint4*>(to) = raw;
}

/// Calls use(value) with a value of the C++ type that a Real names.
template <class Use>
void with_real(Real type, Use use) {
  if (type == Real::Float32) {
    use(float{});
  } else {
    use(__nv_bfloat16{});
  }
}

}  // namespace driftless::lab::cuda
