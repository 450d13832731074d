// SPDX-License-Identifier: Apache-2.0
#include <ATen/cuda/CUDAContext.h>
#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

#include "driftless/base/error.h"
#include "driftless/lab/device/device.h"

namespace driftless::lab {

namespace {
// Plain runs before capture: libraries choose algorithms and allocate workspaces in these.
constexpr int64_t kPlainRuns = 3;
}  // namespace

at::Device find_device(std::string_view name, int64_t index) {
  if (name == "cpu") return at::Device(at::kCPU);
  DRIFTLESS_REQUIRE(name == "cuda", ErrorCode::InvalidArgument, "device: got '", name,
                    "', expected cpu or cuda");
  DRIFTLESS_REQUIRE(c10::cuda::device_count() > index, ErrorCode::Unsupported, "device: got ",
                    static_cast<int64_t>(c10::cuda::device_count()),
                    " CUDA devices, expected at least ", index + 1, "; use cpu");
  const at::Device device(at::kCUDA, static_cast<c10::DeviceIndex>(index));
  c10::cuda::set_device(device.index());
  // Partial sums of bfloat16 products stay in float32.
  at::globalContext().setAllowBF16ReductionCuBLAS(false);
  return device;
}

cuda::Stream current_stream() { return at::cuda::getCurrentCUDAStream().stream(); }

at::Tensor wide_product(const at::Tensor& a, const at::Tensor& b) {
  return a.dim() == 2 ? at::mm(a, b, at::kFloat) : at::bmm(a, b, at::kFloat);
}

struct StreamScope::Impl {
  c10::cuda::CUDAStreamGuard guard{c10::cuda::getStreamFromPool()};
};
StreamScope::StreamScope(at::Device device) {
  if (device.is_cuda()) impl_ = std::make_unique<Impl>();
}
StreamScope::~StreamScope() = default;

struct RepeatedStep::Impl {
  bool is_captured_kind;
  std::function<void()> step;
  int64_t plain_runs = 0;
  std::unique_ptr<at::cuda::CUDAGraph> graph;
};
RepeatedStep::RepeatedStep(at::Device device, std::function<void()> step)
    : impl_(new Impl{device.is_cuda(), std::move(step)}) {}
RepeatedStep::~RepeatedStep() = default;

void RepeatedStep::run() {
  if (!impl_->is_captured_kind || impl_->plain_runs < kPlainRuns) {
    impl_->step();
    ++impl_->plain_runs;
    return;
  }
  if (impl_->graph == nullptr) {
    c10::cuda::device_synchronize();
    impl_->graph = std::make_unique<at::cuda::CUDAGraph>();
    impl_->graph->capture_begin();
    impl_->step();
    impl_->graph->capture_end();
  }
  impl_->graph->replay();
}

}  // namespace driftless::lab
