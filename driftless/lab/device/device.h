// SPDX-License-Identifier: Apache-2.0
// The accelerator behind lab: its stream, and running a training step over and over. Two sources
// implement it; CMake takes device_cuda.cc with DRIFTLESS_CUDA and device_none.cc without.
#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include <ATen/ATen.h>

#include "driftless/lab/cuda/kernels.h"

namespace driftless::lab {

/// "cpu" or "cuda"; `index` is which CUDA device, from then on the current one. Throws
/// InvalidArgument on other names and Unsupported when the build or the machine has no CUDA device.
at::Device find_device(std::string_view name, int64_t index = 0);

/// The stream that torch's operations go to now. Requires a CUDA device.
cuda::Stream current_stream();

/// a b of bfloat16 matrices, or of equally many each, with sums and result in float32. CUDA only.
at::Tensor wide_product(const at::Tensor& a, const at::Tensor& b);

/// While it lives, this thread's work for a CUDA device goes to a stream that can be captured. Does
/// nothing on a CPU.
class StreamScope {
 public:
  explicit StreamScope(at::Device device);
  ~StreamScope();
  StreamScope(const StreamScope&) = delete;
  StreamScope& operator=(const StreamScope&) = delete;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Runs a step that reads and writes the same tensors each time. On CUDA the first calls run as
/// they are, then the step is captured once and replayed as one launch; on a CPU every call is a
/// plain one. The step must not wait for the device. Requires a StreamScope.
class RepeatedStep {
 public:
  RepeatedStep(at::Device device, std::function<void()> step);
  ~RepeatedStep();
  RepeatedStep(const RepeatedStep&) = delete;
  RepeatedStep& operator=(const RepeatedStep&) = delete;

  void run();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace driftless::lab
