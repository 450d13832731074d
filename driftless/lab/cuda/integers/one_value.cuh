// SPDX-License-Identifier: Apache-2.0
// loop/kernels/one_value.inc on the device.
#pragma once

#include <cuda_runtime.h>

namespace driftless::lab::cuda {

#define DRIFTLESS_INLINE __device__ __forceinline__
DRIFTLESS_INLINE float fused(float a, float b, float c) { return __fmaf_rn(a, b, c); }
#include "driftless/loop/kernels/one_value.inc"
#undef DRIFTLESS_INLINE

}  // namespace driftless::lab::cuda
