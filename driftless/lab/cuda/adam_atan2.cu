// SPDX-License-Identifier: Apache-2.0
// The whole optimizer step in one pass over the flat parameter vector.
#include "driftless/lab/cuda/kernels.h"
#include "driftless/lab/cuda/vector.cuh"

namespace driftless::lab::cuda {
namespace {

constexpr int kThreads = 256;

__global__ void step_kernel(FlatParameters flat, AdamConstants constants,
                            const StepScalars* scalars, const bool* skip) {
  const int64_t i = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= flat.count || *skip) return;
  const float g = flat.grads[i];
  const float lr = scalars->lr;
  const float m = flat.moment1[i] + (1.0f - constants.beta1) * (g - flat.moment1[i]);
  const float v = flat.moment2[i] + (1.0f - constants.beta2) * (g * g - flat.moment2[i]);
  const float d = sqrtf(v) * scalars->inverse_root_bias2;
  const float decayed = flat.values[i] * (1.0f - lr * constants.weight_decay);
  const float p = decayed - lr * scalars->inverse_bias1 * atan2f(m, d);
  flat.values[i] = p;
  flat.moment1[i] = m;
  flat.moment2[i] = v;
  flat.ema[i] = (1.0f - constants.ema_rate) * p + constants.ema_rate * flat.ema[i];
  if (flat.compute != nullptr) static_cast<__nv_bfloat16*>(flat.compute)[i] = __float2bfloat16(p);
}

}  // namespace

void adam_atan2_step(const FlatParameters& parameters, AdamConstants constants,
                     const StepScalars* scalars, const bool* skip, Stream stream) {
  step_kernel<<<blocks_for(parameters.count, kThreads), kThreads, 0,
                static_cast<cudaStream_t>(stream)>>>(parameters, constants, scalars, skip);
  check_launch("adam_atan2_step");
}

}  // namespace driftless::lab::cuda
