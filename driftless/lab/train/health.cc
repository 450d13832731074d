// SPDX-License-Identifier: Apache-2.0
#include "driftless/lab/train/health.h"

#include <vector>

namespace driftless::lab {

Health::Health(at::Device device)
    : is_bad_(at::zeros({}, at::TensorOptions(at::kBool).device(device))),
      step_(at::zeros({}, at::TensorOptions(at::kLong).device(device))),
      flags_(at::zeros({static_cast<int64_t>(kWatched.size())},
                       at::TensorOptions(at::kBool).device(device))) {}

void Health::watch(const at::Tensor& step, const std::array<at::Tensor, kWatched.size()>& tensors,
                   Ranks& ranks) {
  // A sum is not finite when a term is not; sums of finite terms overflow only after divergence.
  std::vector<at::Tensor> sums;
  sums.reserve(tensors.size());
  for (const at::Tensor& tensor : tensors) sums.push_back(tensor.detach().sum(at::kFloat));
  at::Tensor counts = at::isfinite(at::stack(sums)).logical_not().to(at::kFloat);
  ranks.sum(counts);
  const at::Tensor flags = counts.gt(0);
  const at::Tensor is_first = at::logical_and(flags.any(), is_bad_.logical_not());
  flags_.copy_(at::where(is_first, flags, flags_));
  step_.copy_(at::where(is_first, step, step_));
  is_bad_.logical_or_(is_first);
}

std::string Health::describe() const {
  if (!is_bad_.item<bool>()) return {};
  const at::Tensor flags = flags_.to(at::kCPU);
  size_t first = 0;
  while (first + 1 < kWatched.size() && !flags[static_cast<int64_t>(first)].item<bool>()) ++first;
  return "step " + std::to_string(step_.item<int64_t>()) + ": " + kWatched[first];
}

}  // namespace driftless::lab
