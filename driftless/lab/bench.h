// SPDX-License-Identifier: Apache-2.0
// Where the time of a training step goes.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include <ATen/ATen.h>

#include "driftless/model/config.h"

namespace driftless::lab {

struct BenchShape {
  model::ModelConfig model;
  int64_t boards;
};

struct BenchResult {
  std::string name;
  double ms;     ///< median of the repetitions
  double gflop;  ///< arithmetic of one repetition, 0 where it does not matter
};

/// Times the pieces of one block on random data: products, SwiGLU and norms, forward; and both
/// sublayers forward and backward.
void bench_pieces(const BenchShape& shape, at::Device device,
                  const std::function<void(const BenchResult&)>& report);

/// Floating-point operations of one training step: all calls forward, the last round backward.
double step_gflop(const BenchShape& shape);

}  // namespace driftless::lab
