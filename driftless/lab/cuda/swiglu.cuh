// SPDX-License-Identifier: Apache-2.0
// SwiGLU of one pair of numbers, the same bits in every kernel and under any compiler flag.
#pragma once

#include <cuda_runtime.h>

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

}  // namespace driftless::lab::cuda
