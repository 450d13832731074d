// SPDX-License-Identifier: Apache-2.0
// Where the time of a training step goes.
#pragma once

#include <cstdint>
#include <functional>

#include <ATen/ATen.h>

#include "driftless/lab/session.h"
#include "driftless/model/config.h"

namespace driftless::lab {

struct BenchShape {
  model::ModelConfig model;
  int64_t boards;
};

/// Times the pieces of one token-mixer block on random data: products, SwiGLU and norms, forward;
/// and both sublayers forward and backward. Other models have no pieces here.
void bench_pieces(const BenchShape& shape, at::Device device,
                  const std::function<void(const BenchResult&)>& report);

/// Floating-point operations of the blocks in one training step, in 10^9: every call forward, those
/// with gradients twice more; HRM runs one more step forward.
double step_gflop(const BenchShape& shape);

/// 10^9 operations a second of a large square product in the type of the activations.
double measured_peak_gflops(at::Device device);

}  // namespace driftless::lab
