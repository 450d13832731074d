// SPDX-License-Identifier: Apache-2.0
#include "driftless/lab/trainer.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/autograd.h>

#include "driftless/base/error.h"
#include "driftless/lab/device.h"
#include "driftless/lab/loss.h"

namespace driftless::lab {
namespace {

FlatWeights training_weights(const OptimizerState& state) {
  return {state.values, state.copy.defined() ? state.copy : state.values, state.grads};
}

FreshBoards empty_boards(const Recipe& recipe, at::Device device) {
  const at::TensorOptions bytes = at::TensorOptions(at::kByte).device(device);
  const std::vector<int64_t> sizes = {recipe.batch, recipe.model.seq_len};
  return {at::zeros(sizes, bytes), at::zeros(sizes, bytes), at::zeros({recipe.batch}, bytes)};
}

// Copies without waiting: from pinned memory, which torch keeps until the device has read it.
template <class T>
void send(const T* values, at::Tensor& to) {
  at::Tensor host =
      at::empty(to.sizes(), to.options().device(at::kCPU).pinned_memory(to.is_cuda()));
  std::memcpy(host.data_ptr(), values, host.nbytes());
  to.copy_(host, /*non_blocking=*/true);
}

Carry starting_carry(LoadedRun& run, const RecursiveNet& net, const FreshBoards& fresh) {
  if (!run.carry.has_value()) return empty_carry(net, fresh);
  DRIFTLESS_REQUIRE(run.carry->inputs.sizes() == fresh.inputs.sizes(), ErrorCode::BadFile,
                    "resume: got a carry of ", run.carry->inputs.sizes(), ", expected ",
                    fresh.inputs.sizes());
  return *run.carry;
}

}  // namespace

at::ScalarType activation_type(at::Device device) {
  return device.is_cuda() ? at::kBFloat16 : at::kFloat;
}

RunState fresh_run(const Recipe& recipe, const NamedTensors& weights, at::Device device) {
  const at::Tensor flat = to_flat(Layout(recipe.model), weights, "start").to(device);
  const auto initial = [&](const char* name) {
    const auto found = weights.find(name);
    DRIFTLESS_REQUIRE(found != weights.end(), ErrorCode::BadFile, "start: no tensor '", name, "'");
    return found->second.to(device);
  };
  RunState state;
  state.recipe = describe_text(recipe);
  state.optimizer = fresh_optimizer_state(flat, activation_type(device));
  state.initial = {initial("H_init"), initial("L_init")};
  return state;
}

Trainer::Trainer(Recipe recipe, BoardPool pool, LoadedRun run, TrainerOptions options)
    : recipe_(std::move(recipe)),
      pool_(std::move(pool)),
      options_(options),
      state_(std::move(run.state)),
      net_(recipe_.model, training_weights(state_.optimizer), state_.initial),
      fresh_(empty_boards(recipe_, options.device)),
      scalars_(at::zeros({3}, at::TensorOptions(at::kFloat).device(options.device))),
      is_bad_(at::zeros({}, at::TensorOptions(at::kBool).device(options.device))),
      sums_(at::zeros({kTallySums}, at::TensorOptions(at::kDouble).device(options.device))),
      carry_(starting_carry(run, net_, fresh_)),
      tally_begin_(state_.step),
      repeated_(std::make_unique<RepeatedStep>(options.device, [this] { run_step(); })) {
  DRIFTLESS_REQUIRE(pool_.cells() == recipe_.model.seq_len, ErrorCode::BadConfig,
                    "pool: got boards of ", pool_.cells(), " cells, expected ",
                    recipe_.model.seq_len);
  require_resumable(recipe_, state_.recipe);
  state_.recipe = describe_text(recipe_);
}

Trainer::~Trainer() = default;

void Trainer::upload(int64_t step) {
  const Batch batch = make_batch(pool_,
                                 {static_cast<uint64_t>(recipe_.seed), recipe_.batch,
                                  recipe_.model.halt_max_steps, recipe_.halt_exploration},
                                 step);
  send(batch.inputs.data(), fresh_.inputs);
  send(batch.labels.data(), fresh_.labels);
  send(batch.min_steps.data(), fresh_.min_steps);
  const cuda::StepScalars scalars =
      step_scalars(recipe_.optimizer, rate_at(recipe_.lr, step), step);
  send(&scalars, scalars_);
}

void Trainer::step() {
  upload(state_.step + 1);
  repeated_->run();
  ++state_.step;
}

void Trainer::run_step() {
  net_.refresh();
  const States states = refill(carry_, fresh_, net_.initial_states(recipe_.batch));
  const StepOutput output = net_.step(states, {carry_.inputs, {}}, {.chunk = options_.chunk});
  const Loss parts = loss(output.logits, output.halt, carry_.labels);
  state_.optimizer.grads.zero_();
  torch::autograd::backward({parts.total}, {});
  const at::NoGradGuard no_gradients;
  is_bad_.logical_or_(at::isfinite(parts.total).logical_not());
  optimizer_step(state_.optimizer, recipe_.optimizer, scalars_, is_bad_);
  advance(carry_, output, fresh_, recipe_.model.halt_max_steps);
  add_to_tally(sums_, carry_, output, parts);
}

Tally Trainer::take_tally() {
  const int64_t begin = std::exchange(tally_begin_, state_.step);
  DRIFTLESS_REQUIRE(!is_bad_.item<bool>(), ErrorCode::Numeric, "steps ", begin + 1, " to ",
                    state_.step, ": the loss is not finite; the last checkpoint is kept");
  return lab::take_tally(sums_, recipe_.batch);
}

Score Trainer::evaluate(std::span<const task::sudoku::Puzzle> puzzles) const {
  const at::Tensor ema = state_.optimizer.ema;
  const RecursiveNet averaged(recipe_.model, {ema, ema.to(activation_type(options_.device)), {}},
                              state_.initial);
  EvaluateOptions options;
  options.steps = recipe_.model.halt_max_steps;
  options.chunk = options_.chunk;
  options.device = options_.device;
  return lab::evaluate(averaged, puzzles, options);
}

}  // namespace driftless::lab
