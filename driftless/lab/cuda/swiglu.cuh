// SPDX-License-Identifier: Apache-2.0
// SwiGLU of one pair of numbers, the same bits in every kernel and under any compiler flag.
#pragma once

#include <cuda_runtime.h>

#include "driftless/lab/cuda/vector.cuh"

namespace driftless::lab::cuda {

__device__ inline float sigmoid(float x) { return 1.0f / (1.0f + __expf(-x)); }

/// silu(gate) * up
__device__ inline float swiglu(float gate, float up) { return gate * sigmoid(gate) * up; }

struct SwigluGradient {
  float gate;
  float up;
};
__device__ inline SwigluGradient swiglu_gradient(float gate, float up, float d) {
  const float s = sigmoid(gate);
  return {d * up * s * __fmaf_rn(gate, 1.0f - s, 1.0f), d * gate * s};
}

/// The gradients of a vector of gates and of the ups that lie `half` further, to the same places of
/// `d_gate`.
template <class T>
__device__ void swiglu_backward(const T* gate, int64_t half, const Vec<T>& d, T* d_gate) {
  const Vec<T> gates = load(gate);
  const Vec<T> ups = load(gate + half);
  Vec<T> d_gates;
  Vec<T> d_ups;
#pragma unroll
  for (int i = 0; i < Vec<T>::kLength; ++i) {
    const SwigluGradient gradient = swiglu_gradient(gates.x[i], ups.x[i], d.x[i]);
    d_gates.x[i] = gradient.gate;
    d_ups.x[i] = gradient.up;
  }
  store(d_gate, d_gates);
  store(d_gate + half, d_ups);
}

}  // namespace driftless::lab::cuda
