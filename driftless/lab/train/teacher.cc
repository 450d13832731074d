// SPDX-License-Identifier: Apache-2.0
#include "driftless/lab/train/teacher.h"

#include <algorithm>
#include <array>

#include <ATen/core/grad_mode.h>

namespace driftless::lab {

Teacher::Teacher(const model::ModelConfig& config, const at::Tensor& flat,
                 at::ScalarType activations, const States& initial)
    : net_(config, {flat, flat.to(activations), {}}, initial) {
  const std::vector<model::NetworkCall> calls = model::schedule(config);
  first_gradient_ = std::count_if(calls.begin(), calls.end(), [](const model::NetworkCall& call) {
    return !call.has_gradient;
  });
}

StepOutput Teacher::follow(const States& start, const Inputs& inputs, StateTrail& followed) const {
  const at::NoGradGuard no_gradients;
  return net_.step(start, inputs, {.tap = &followed});
}

at::Tensor Teacher::apart(const StateTrail& trail, const StateTrail& followed) const {
  at::Tensor sum;
  for (size_t i = static_cast<size_t>(first_gradient_); i < trail.states().size(); ++i) {
    const at::Tensor apart = (trail.states()[i] - followed.states()[i]).to(at::kFloat);
    const at::Tensor square = (apart * apart).mean(at::IntArrayRef({1, 2})).sum();
    sum = sum.defined() ? sum + square : square;
  }
  return sum / (static_cast<int64_t>(trail.states().size()) - first_gradient_);
}

at::Tensor Teacher::distance(Carry& carry, const States& initial, const Inputs& inputs,
                             const StateTrail& trail) const {
  StateTrail followed;
  {
    const at::NoGradGuard no_gradients;
    const at::Tensor is_free = carry.halted.unsqueeze(1).unsqueeze(2);
    const States start{at::where(is_free, initial.h, carry.followed.h),
                       at::where(is_free, initial.l, carry.followed.l)};
    const StepOutput output = follow(start, inputs, followed);
    carry.followed.h.copy_(output.states.h);
    carry.followed.l.copy_(output.states.l);
  }
  return apart(trail, followed);
}

at::Tensor Teacher::step_distance(const States& start, const Inputs& inputs,
                                  const StateTrail& trail) const {
  StateTrail followed;
  follow(start, inputs, followed);
  return apart(trail, followed);
}

}  // namespace driftless::lab
