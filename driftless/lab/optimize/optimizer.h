// SPDX-License-Identifier: Apache-2.0
// AdamATan2 with weight decay on every weight, and the exponential moving average that evaluation
// uses, over flat vectors.
#pragma once

#include <cstdint>

#include <ATen/ATen.h>

#include "driftless/lab/cuda/kernels.h"
#include "driftless/lab/optimize/optimizer_options.h"

namespace driftless::lab {

/// The numbers of step t (from 1) that change from step to step.
cuda::StepScalars step_scalars(const OptimizerOptions& options, double lr, int64_t t);

/// All float32 of one length, except `copy`: bfloat16, or undefined where the activations are
/// float32.
struct OptimizerState {
  at::Tensor values;
  at::Tensor grads;
  at::Tensor moment1;
  at::Tensor moment2;
  at::Tensor ema;
  at::Tensor copy;
};

/// Zero moments and gradients, average and copy equal to `values`.
OptimizerState fresh_optimizer_state(const at::Tensor& values, at::ScalarType activations);

/// p <- p (1 - lr wd); m, v <- moving averages of g, g^2; p <- p - lr m^ atan2(m, sqrt(v^)); then
/// the moving average and the copy. `scalars` is a float32 tensor [3] laid out as StepScalars, on
/// the device of the state; an empty state is fine. Leaves everything as it is where the bool
/// `skip` is set.
void optimizer_step(OptimizerState& state, const OptimizerOptions& options,
                    const at::Tensor& scalars, const at::Tensor& skip);

}  // namespace driftless::lab
