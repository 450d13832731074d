// SPDX-License-Identifier: Apache-2.0
#include "driftless/lab/train/carry.h"

#include <algorithm>

namespace driftless::lab {

Carry empty_carry(const RecursiveNet& net, const FreshBoards& boards) {
  const int64_t count = boards.inputs.size(0);
  const at::TensorOptions options = boards.inputs.options();
  const TensorStates initial = net.initial_states(count);
  return {{initial.h.contiguous(), initial.l.contiguous()},
          at::zeros_like(boards.inputs),
          at::zeros_like(boards.labels),
          at::zeros({count}, options.dtype(at::kInt)),
          at::ones({count}, options.dtype(at::kBool)),
          at::zeros_like(boards.puzzles),
          {}};
}

TensorStates refill(Carry& carry, const FreshBoards& fresh, const TensorStates& initial) {
  const at::Tensor per_cell = carry.halted.unsqueeze(1);
  const at::Tensor per_value = per_cell.unsqueeze(2);
  carry.inputs.copy_(at::where(per_cell, fresh.inputs, carry.inputs));
  carry.labels.copy_(at::where(per_cell, fresh.labels, carry.labels));
  carry.puzzles.copy_(at::where(carry.halted, fresh.puzzles, carry.puzzles));
  carry.steps.masked_fill_(carry.halted, 0);
  return {at::where(per_value, initial.h, carry.states.h),
          at::where(per_value, initial.l, carry.states.l)};
}

void advance(Carry& carry, const StepOutput& output, const FreshBoards& fresh,
             const model::ModelConfig& config) {
  carry.states.h.copy_(output.states.h);
  carry.states.l.copy_(output.states.l);
  carry.steps.add_(1);
  const bool is_lead = model::architecture(config).halting == model::HaltRule::Lead;
  const at::Tensor is_sure = is_lead ? output.halt.gt(output.go_on) : output.halt.gt(0);
  const at::Tensor wants_to = at::logical_and(is_sure, carry.steps.ge(fresh.min_steps));
  carry.halted.copy_(at::logical_or(carry.steps.ge(config.halt_max_steps), wants_to));
}

namespace {
template <class Change>
Carry changed(const Carry& carry, Change change) {
  const bool is_following = carry.followed.h.defined();
  return {{change(carry.states.h), change(carry.states.l)},
          change(carry.inputs),
          change(carry.labels),
          change(carry.steps),
          change(carry.halted),
          change(carry.puzzles),
          is_following ? TensorStates{change(carry.followed.h), change(carry.followed.l)}
                       : TensorStates{}};
}
}  // namespace

Carry gather(const Carry& part, Ranks& ranks) {
  return changed(part, [&](const at::Tensor& tensor) { return ranks.gather(tensor); });
}

Carry share_of(const Carry& whole, const Ranks& ranks) {
  const int64_t count = whole.steps.size(0) / ranks.size();
  return changed(whole, [&](const at::Tensor& tensor) {
    return tensor.narrow(0, ranks.rank() * count, count).clone();
  });
}

void add_to_tally(at::Tensor& sums, const Carry& carry, const StepOutput& output,
                  const Loss& loss) {
  const at::Tensor over = carry.halted.to(at::kDouble);
  const auto sum_over = [&](const at::Tensor& values) { return (values * over).sum(); };
  const at::Tensor is_foreseen = output.halt.ge(0).eq(loss.is_exact);
  sums.add_(at::stack({at::ones({}, sums.options()), loss.answer.detach().to(at::kDouble),
                       loss.halting.detach().to(at::kDouble), over.sum(), sum_over(loss.cell_rate),
                       sum_over(loss.is_exact), sum_over(is_foreseen), sum_over(carry.steps)}));
}

TrainingTally take_tally(at::Tensor& sums, int64_t boards, Ranks& ranks) {
  at::Tensor total = sums.clone();
  sums.zero_();
  ranks.sum(total);
  const at::Tensor host = total.to(at::kCPU);
  const double* s = host.data_ptr<double>();
  const double steps = s[0] / static_cast<double>(ranks.size());
  const double board_steps = std::max(steps, 1.0) * static_cast<double>(boards);
  const double halted = std::max(s[3], 1.0);
  return {static_cast<int64_t>(steps),
          s[1] / board_steps,
          s[2] / board_steps,
          static_cast<int64_t>(s[3]),
          s[4] / halted,
          s[5] / halted,
          s[6] / halted,
          s[7] / halted};
}

}  // namespace driftless::lab
