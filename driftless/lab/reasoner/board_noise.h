// SPDX-License-Identifier: Apache-2.0
// The random numbers of EqR and stochastic TRM: every slot has its own generator, seeded by its
// board, and draws in the order of the CPU backend (reason/start.h), so both backends see the same
// numbers. On CUDA the generators live on the device.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <ATen/ATen.h>

#include "driftless/base/rng.h"
#include "driftless/base/thread_pool.h"

namespace driftless::lab {

class BoardNoise {
 public:
  struct Options {
    int64_t slots;
    int64_t count;    ///< values of a draw, per slot
    int64_t threads;  ///< on a CPU
    at::Device device;
  };
  explicit BoardNoise(const Options& options);

  void seed(std::span<const int64_t> slots, std::span<const uint64_t> seeds);

  /// The next values of each slot's generator, [slots, count] float32.
  at::Tensor truncated_normal(std::span<const int64_t> slots, double deviation);
  at::Tensor standard_normal(std::span<const int64_t> slots);

 private:
  template <class Draw>
  at::Tensor draw_here(std::span<const int64_t> slots, Draw draw);
  template <class Kernel>
  at::Tensor draw_there(std::span<const int64_t> slots, Kernel kernel);

  Options options_;
  std::vector<Rng> rngs_;  // CPU
  at::Tensor generators_;  // CUDA: the bytes of a cuda::Generator per slot
  int64_t pairs_ = 0;      // CUDA: of a part (cuda::NoiseParts), and the leaps over parts
  at::Tensor leaps_;
  ThreadPool pool_;
};

}  // namespace driftless::lab
