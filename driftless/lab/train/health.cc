// SPDX-License-Identifier: Apache-2.0
#include "driftless/lab/train/health.h"

#include <vector>

#include "driftless/base/text/enum_names.h"

namespace driftless::lab {
namespace {

constexpr std::array<EnumName<Watched>, kWatchedCount> kNames = {
    {{Watched::Scales, "quantizer scale"},
     {Watched::StateL, "z_L"},
     {Watched::StateH, "z_H"},
     {Watched::Logits, "logits"},
     {Watched::HaltLogits, "halting logit"},
     {Watched::AnswerLoss, "answer loss"},
     {Watched::HaltLoss, "halting loss"},
     {Watched::Gradients, "gradients"}}};

}  // namespace

std::string_view to_string(Watched what) { return enum_name(kNames, what); }

Health::Health(at::Device device)
    : is_bad_(at::zeros({}, at::TensorOptions(at::kBool).device(device))),
      step_(at::zeros({}, at::TensorOptions(at::kLong).device(device))),
      flags_(at::zeros({static_cast<int64_t>(kWatchedCount)},
                       at::TensorOptions(at::kBool).device(device))) {}

void Health::watch(const at::Tensor& step, const std::array<at::Tensor, kWatchedCount>& tensors,
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

std::optional<BadStep> Health::first_bad() const {
  if (!is_bad_.item<bool>()) return std::nullopt;
  const at::Tensor flags = flags_.to(at::kCPU);
  int64_t first = 0;
  while (!flags[first].item<bool>()) ++first;
  return BadStep{step_.item<int64_t>(), static_cast<Watched>(first)};
}

}  // namespace driftless::lab
