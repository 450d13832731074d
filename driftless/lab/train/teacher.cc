// SPDX-License-Identifier: Apache-2.0
#include "driftless/lab/train/teacher.h"

#include <algorithm>
#include <array>
#include <utility>

#include <ATen/core/grad_mode.h>

namespace driftless::lab {

Teacher::Teacher(const model::ModelConfig& config, const at::Tensor& flat,
                 at::ScalarType activations, const TensorStates& initial, BetweenLayers between)
    : net_(config, {flat, flat.to(activations), {}}, initial), between_(std::move(between)) {
  const std::vector<model::NetworkCall> calls = model::schedule(config);
  first_gradient_ = std::count_if(calls.begin(), calls.end(), [](const model::NetworkCall& call) {
    return !call.has_gradient;
  });
}

TensorStates StateTrail::after(size_t calls, const TensorStates& start) const {
  TensorStates states = start;
  for (size_t i = 0; i < calls; ++i)
    (which_[i] == model::State::H ? states.h : states.l) = states_[i].detach();
  return states;
}

at::Tensor Teacher::apart(const StateTrail& trail, const StateTrail& followed) const {
  const std::vector<at::Tensor>& ours = trail.states();
  const std::vector<at::Tensor>& theirs = followed.states();
  const size_t count = ours.size() - static_cast<size_t>(first_gradient_);
  at::Tensor sum;
  for (size_t i = count; i > 0; --i) {
    const at::Tensor apart = (ours[ours.size() - i] - theirs[theirs.size() - i]).to(at::kFloat);
    const at::Tensor square = (apart * apart).mean(at::IntArrayRef({1, 2})).sum();
    sum = sum.defined() ? sum + square : square;
  }
  return sum / static_cast<int64_t>(count);
}

at::Tensor Teacher::distance(Carry& carry, const TensorStates& initial, const Inputs& inputs,
                             const StateTrail& trail) const {
  StateTrail followed;
  {
    const at::NoGradGuard no_gradients;
    const at::Tensor is_free = carry.halted.unsqueeze(1).unsqueeze(2);
    const TensorStates start{at::where(is_free, initial.h, carry.followed.h),
                             at::where(is_free, initial.l, carry.followed.l)};
    const StepOutput output = net_.step(start, inputs, {.tap = &followed, .between = between_});
    carry.followed.h.copy_(output.states.h);
    carry.followed.l.copy_(output.states.l);
  }
  return apart(trail, followed);
}

at::Tensor Teacher::local_distance(const TensorStates& start, const Inputs& inputs,
                                   const StateTrail& trail) const {
  StateTrail followed;
  net_.rest_of_step(first_gradient_, trail.after(static_cast<size_t>(first_gradient_), start),
                    inputs, {.tap = &followed, .between = between_});
  return apart(trail, followed);
}

}  // namespace driftless::lab
