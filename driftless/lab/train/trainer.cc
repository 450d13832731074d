// SPDX-License-Identifier: Apache-2.0
#include "driftless/lab/train/trainer.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/autograd.h>

#include "driftless/base/error.h"
#include "driftless/base/files/file.h"
#include "driftless/lab/device/device.h"
#include "driftless/lab/optimize/sign_sgd.h"
#include "driftless/lab/train/loss.h"
#include "driftless/lab/train/teacher.h"
#include "driftless/model/shapes.h"
#include "driftless/quant/plan/plan_json.h"

namespace driftless::lab {
namespace {

FlatWeights float_weights(const OptimizerState& state) {
  return {state.values, state.copy.defined() ? state.copy : state.values, state.grads};
}

/// Logarithms of scales train without decay, which would pull scales towards 1.
OptimizerOptions scale_options(OptimizerOptions options) {
  options.weight_decay = 0;
  return options;
}

FreshBoards empty_boards(int64_t count, const Recipe& recipe, at::Device device) {
  const at::TensorOptions bytes = at::TensorOptions(at::kByte).device(device);
  const std::vector<int64_t> sizes = {count, recipe.model.seq_len};
  return {at::zeros(sizes, bytes), at::zeros(sizes, bytes), at::zeros({count}, bytes),
          at::zeros({count}, bytes.dtype(at::kInt))};
}

// Copies without waiting: from pinned memory, which torch keeps until the device has read it.
template <class T>
void send(const T* values, at::Tensor& to) {
  at::Tensor host =
      at::empty(to.sizes(), to.options().device(at::kCPU).pinned_memory(to.is_cuda()));
  std::memcpy(host.data_ptr(), values, host.nbytes());
  to.copy_(host, /*non_blocking=*/true);
}

Carry starting_carry(const LoadedRun& run, const RecursiveNet& net, const FreshBoards& fresh,
                     const Ranks& ranks) {
  if (!run.carry.has_value()) return empty_carry(net, fresh);
  const std::vector<int64_t> expected = {fresh.inputs.size(0) * ranks.size(), fresh.inputs.size(1)};
  DRIFTLESS_REQUIRE(run.carry->inputs.sizes() == at::IntArrayRef(expected), ErrorCode::BadFile,
                    "resume: got a carry of ", run.carry->inputs.sizes(), ", expected ",
                    at::IntArrayRef(expected));
  return share_of(*run.carry, ranks);
}

}  // namespace

at::ScalarType activation_type(at::Device device) {
  return device.is_cuda() ? at::kBFloat16 : at::kFloat;
}

int64_t slots_per_rank(const Recipe& recipe, int64_t ranks) {
  DRIFTLESS_REQUIRE(recipe.batch % ranks == 0, ErrorCode::BadConfig, "train.batch; got ",
                    recipe.batch, ", expected a multiple of the ", ranks, " ranks");
  return recipe.batch / ranks;
}

RunState fresh_run(const Recipe& recipe, const NamedTensors& weights, at::Device device) {
  RunState state;
  state.recipe = describe_text(recipe);
  state.optimizer = fresh_optimizer_state(
      to_flat(ParameterLayout(recipe.model), weights, "start").to(device), activation_type(device));
  for (const model::ParamSpec& spec : model::parameters(recipe.model)) {
    if (spec.role == model::ParamRole::Weight) continue;
    const auto found = weights.find(spec.name);
    DRIFTLESS_REQUIRE(found != weights.end(), ErrorCode::BadFile, "start: no tensor '", spec.name,
                      "'");
    extra_tensor(state, spec) = found->second.clone().to(device);
  }
  return state;
}

Trainer::Trainer(Recipe recipe, BoardPool pool, LoadedRun run, TrainerOptions options)
    : recipe_(std::move(recipe)),
      pool_(std::move(pool)),
      options_(std::move(options)),
      state_(run.state),
      fresh_(empty_boards(slots_per_rank(recipe_, ranks().size()), recipe_, device())),
      scalars_(at::zeros({3}, at::TensorOptions(at::kFloat).device(device()))),
      scale_scalars_(at::zeros_like(scalars_)),
      puzzle_rate_(at::zeros({}, at::TensorOptions(at::kFloat).device(device()))),
      step_number_(at::zeros({}, at::TensorOptions(at::kLong).device(device()))),
      health_(device()),
      sums_(at::zeros({kTallySums}, at::TensorOptions(at::kDouble).device(device()))) {
  DRIFTLESS_REQUIRE(pool_.cells() == recipe_.model.seq_len, ErrorCode::BadConfig,
                    "pool: got boards of ", pool_.cells(), " cells, expected ",
                    recipe_.model.seq_len);
  if (ranks().size() == 1 && device().is_cpu())
    between_ = [this] {
      if (options_.should_give_up()) throw GivenUp();
    };
  require_resumable(recipe_, state_.recipe);
  state_.recipe = describe_text(recipe_);
  DRIFTLESS_REQUIRE(recipe_.quant.distill == 0 || state_.teacher.defined(), ErrorCode::BadFile,
                    "resume: no tensor 'teacher'; expected the weights that distillation follows");
  start_model();
  enter_stage(state_.step + 1);
  carry_ = starting_carry(run, *net_, fresh_, ranks());
  if (recipe_.quant.distill == 0 || recipe_.quant.distill_local) return;
  if (!carry_.followed.h.defined())
    carry_.followed = {carry_.states.h.clone(), carry_.states.l.clone()};
}

void Trainer::start_model() {
  DRIFTLESS_REQUIRE(recipe_.has_quant == options_.qat.has_value(), ErrorCode::InvalidArgument,
                    "trainer: expected a quantization plan with a recipe that has [quant]");
  scales_ = recipe_.has_quant
                ? state_.scales
                : fresh_optimizer_state(at::empty({0}, scalars_.options()), at::kFloat);
  const QatPlan qat = options_.qat.value_or(QatPlan{});
  const int64_t expected = scale_count(scale_slots(qat, recipe_.model));
  DRIFTLESS_REQUIRE(scales_.values.defined() && scales_.values.numel() == expected,
                    ErrorCode::BadFile, "resume: static scales; got ",
                    scales_.values.defined() ? scales_.values.numel() : 0, ", expected ", expected);
  if (ranks().size() > 1 && state_.step == 0) {
    // Each rank has calibrated for itself; the last bit may differ.
    if (ranks().rank() != 0) scales_.values.zero_();
    ranks().sum(scales_.values);
    scales_.ema.copy_(scales_.values);
  }
  model_.emplace(recipe_.model, qat, float_weights(state_.optimizer),
                 LogScales{scales_.values, scales_.grads}, state_.teacher);
}

Trainer::~Trainer() = default;

void Trainer::enter_stage(int64_t step) {
  const model::ModelConfig config = model_at(recipe_, step);
  if (net_.has_value() && net_->config() == config) return;
  net_.emplace(config, model_->weights(), state_.initial);
  if (recipe_.quant.distill > 0)
    teacher_ = std::make_unique<Teacher>(config, state_.teacher, activation_type(device()),
                                         state_.initial, between_);
  // Sums over ranks are not captured.
  const at::Device captured = ranks().size() == 1 ? device() : at::Device(at::kCPU);
  repeated_ = std::make_unique<RepeatedStep>(captured, [this] { run_step(); });
}

void Trainer::upload(int64_t step) {
  const Batch batch = make_batch(pool_,
                                 {static_cast<uint64_t>(recipe_.seed), recipe_.batch,
                                  recipe_.model.halt_max_steps, recipe_.halt_exploration},
                                 step);
  const int64_t first = ranks().rank() * fresh_.inputs.size(0);
  send(batch.inputs.data() + first * pool_.cells(), fresh_.inputs);
  send(batch.labels.data() + first * pool_.cells(), fresh_.labels);
  send(batch.min_steps.data() + first, fresh_.min_steps);
  send(batch.puzzles.data() + first, fresh_.puzzles);
  const double rate = rate_at(recipe_.lr, step);
  const double share_of_peak = recipe_.lr.peak > 0 ? rate / recipe_.lr.peak : 0;
  const auto send_scalars = [&](double of_rate, at::Tensor& to) {
    const cuda::StepScalars scalars = step_scalars(recipe_.optimizer, of_rate, step);
    send(&scalars, to);
  };
  send_scalars(rate, scalars_);
  send_scalars(recipe_.quant.scale_lr * share_of_peak, scale_scalars_);
  send(&step, step_number_);
  const auto puzzle_rate = static_cast<float>(recipe_.puzzle_lr * share_of_peak);
  send(&puzzle_rate, puzzle_rate_);
}

void Trainer::step() {
  const int64_t step = state_.step + 1;
  enter_stage(step);
  upload(step);
  // Noise is the same at the same step, also after a resume, and different on each rank.
  if (model::architecture(recipe_.model).draws_noise()) {
    Rng seeds(static_cast<uint64_t>(recipe_.seed) + 1);
    at::manual_seed(seeds.next() + static_cast<uint64_t>(step * ranks().size() + ranks().rank()));
  }
  // Before the weights change, a step writes into these alone, but for what it would write again.
  const bool is_following = between_ && carry_.followed.h.defined();
  const TensorStates followed =
      is_following ? TensorStates{carry_.followed.h.clone(), carry_.followed.l.clone()}
                   : TensorStates{};
  try {
    repeated_->run();
  } catch (const GivenUp&) {
    if (is_following) {
      carry_.followed.h.copy_(followed.h);
      carry_.followed.l.copy_(followed.l);
    }
    throw;
  }
  ++state_.step;
}

Loss Trainer::loss_of(const StepOutput& output, const Inputs& inputs) const {
  const model::Architecture& arch = model::architecture(recipe_.model);
  Loss parts = loss(output.logits, output.halt, carry_.labels);
  if (recipe_.noise_weight > 0 && arch.has(model::After::Perturb))
    parts.total = parts.total + static_cast<double>(carry_.labels.size(0)) * recipe_.noise_weight *
                                    net_->noise_divergence();
  if (arch.halting != model::HaltRule::Lead) return parts;
  StepOutput next;
  {
    const at::NoGradGuard no_gradients;
    next = net_->step(output.states, inputs, {.chunk = options_.chunk, .between = between_});
  }
  const at::Tensor is_last = (carry_.steps + 1).ge(recipe_.model.halt_max_steps);
  const at::Tensor more = continue_loss(output.go_on, next.halt, next.go_on, is_last);
  parts.halting = parts.halting + more;
  parts.total = parts.total + 0.5 * more;
  return parts;
}

Trainer::PuzzleRows Trainer::puzzle_rows() const {
  if (!state_.puzzle_table.defined()) return {};
  const at::Tensor ids = carry_.puzzles.to(at::kLong);
  return {ids, state_.puzzle_table.index_select(0, ids).set_requires_grad(true)};
}

void Trainer::differentiate(const at::Tensor& loss) {
  state_.optimizer.grads.zero_();
  scales_.grads.zero_();
  torch::autograd::backward({loss / recipe_.batch}, {});
}

void Trainer::share_gradients() {
  ranks().sum(state_.optimizer.grads);
  ranks().sum(scales_.grads);
  // Of sums over ranks: those of the weights' scales follow from the weights' gradients.
  model_->pull_back();
}

void Trainer::update(const PuzzleRows& puzzles) {
  if (puzzles.ids.defined())
    sign_sgd_step(state_.puzzle_table, ranks().gather(puzzles.ids),
                  ranks().gather(puzzles.values.grad()), puzzle_rate_, recipe_.puzzle_weight_decay,
                  health_.is_bad());
  optimizer_step(state_.optimizer, recipe_.optimizer, scalars_, health_.is_bad());
  model_->confine(state_.optimizer.values);
  model_->confine(state_.optimizer.ema);
  optimizer_step(scales_, scale_options(recipe_.optimizer), scale_scalars_, health_.is_bad());
}

void Trainer::run_step() {
  model_->refresh();
  net_->refresh();
  const TensorStates initial = net_->initial_states(fresh_.inputs.size(0));
  const TensorStates states = refill(carry_, fresh_, initial);
  const PuzzleRows puzzles = puzzle_rows();
  const Inputs inputs{carry_.inputs, puzzles.values};
  StateTrail trail;
  StepOptions options{.chunk = options_.chunk, .between = between_};
  if (teacher_ != nullptr) options.tap = &trail;
  const StepOutput output = net_->step(states, inputs, options);
  Loss parts = loss_of(output, inputs);
  if (teacher_ != nullptr) {
    const at::Tensor distance = recipe_.quant.distill_local
                                    ? teacher_->local_distance(states, inputs, trail)
                                    : teacher_->distance(carry_, initial, inputs, trail);
    const at::Tensor drawn = recipe_.quant.distill * distance;
    parts.total = recipe_.quant.labels ? parts.total + drawn : drawn;
  }
  differentiate(parts.total);
  const at::NoGradGuard no_gradients;
  share_gradients();
  health_.watch(step_number_,
                {model_->alarm(), output.states.l, output.states.h, output.logits, output.halt,
                 parts.answer, parts.halting, state_.optimizer.grads},
                ranks());
  update(puzzles);
  advance(carry_, output, fresh_, recipe_.model);
  add_to_tally(sums_, carry_, output, parts);
}

std::string Trainer::bad_gradient() const {
  const ParameterLayout layout(recipe_.model);
  for (const ParameterLayout::Entry& entry : layout.entries())
    if (!at::isfinite(layout.view(state_.optimizer.grads, entry.name)).all().item<bool>())
      return " (of " + entry.name + ")";
  return {};
}

TrainingTally Trainer::take_tally() {
  constexpr const char* kAdvice =
      "; the last checkpoint is kept; lower train.lr and start --from its weights";
  if (const std::optional<BadStep> bad = health_.first_bad()) {
    if (bad->what == Watched::Scales)
      fail(ErrorCode::Numeric, "step ", bad->step, ": ", to_string(bad->what), " of layer '",
           model_->bad_scale(), "' has reached zero or infinity", kAdvice);
    fail(ErrorCode::Numeric, "step ", bad->step, ": ", to_string(bad->what),
         bad->what == Watched::Gradients ? bad_gradient() : "", " not finite", kAdvice);
  }
  return lab::take_tally(sums_, recipe_.batch, ranks());
}

task::Score Trainer::evaluate(std::span<const task::Example> boards) const {
  const std::unique_ptr<QuantizedModel> model = averaged_model();
  const RecursiveNet averaged(recipe_.model, model->weights(), state_.initial);
  if (model::architecture(recipe_.model).draws_noise())
    at::manual_seed(static_cast<uint64_t>(recipe_.seed));
  EvaluateOptions options;
  options.steps = recipe_.model.halt_max_steps;
  options.chunk = options_.chunk;
  options.device = device();
  options.puzzle_table = state_.puzzle_table;
  options.between = between_;
  const auto edge = [&](int64_t rank) {
    return static_cast<size_t>(std::ssize(boards) * rank / ranks().size());
  };
  const auto mine =
      boards.subspan(edge(ranks().rank()), edge(ranks().rank() + 1) - edge(ranks().rank()));
  const task::Score part = mine.empty() ? task::Score{} : lab::evaluate(averaged, mine, options);
  at::Tensor counts = at::tensor({part.exact.hits, part.exact.n, part.steps_sum}).to(device());
  at::Tensor cells =
      at::tensor({part.cells.n, part.cells.sum, part.cells.squares}, at::kDouble).to(device());
  ranks().sum(counts);
  ranks().sum(cells);
  const at::Tensor host_counts = counts.to(at::kCPU);
  const at::Tensor host_cells = cells.to(at::kCPU);
  const int64_t* sums = host_counts.data_ptr<int64_t>();
  const double* moments = host_cells.data_ptr<double>();
  const task::Share exact{sums[0], sums[1]};
  return {exact, exact, {moments[0], moments[1], moments[2]}, sums[2]};
}

std::unique_ptr<QuantizedModel> Trainer::averaged_model() const {
  const at::Tensor& ema = state_.optimizer.ema;
  auto averaged =
      std::make_unique<QuantizedModel>(recipe_.model, options_.qat.value_or(QatPlan{}),
                                       FlatWeights{ema, ema.to(activation_type(device())), {}},
                                       LogScales{scales_.ema, {}}, state_.teacher);
  averaged->refresh();
  return averaged;
}

void Trainer::save(const std::filesystem::path& folder) const {
  const std::string bad = model_->bad_scale();
  DRIFTLESS_REQUIRE(bad.empty(), ErrorCode::Numeric, "step ", state_.step, ": a scale of layer '",
                    bad, "' has reached zero or infinity; the last checkpoint is kept");
  const Carry whole = gather(carry_, ranks());
  if (ranks().rank() == 0) save_run(folder, state_, whole);
}

void Trainer::export_model(const std::filesystem::path& folder) const {
  RunState stored = state_;
  stored.optimizer.ema = model_->stored(state_.optimizer.ema);
  export_weights(folder / "weights.safetensors", recipe_.model, stored,
                 recipe_.has_quant ? store::DType::F32 : store::DType::BF16);
  if (recipe_.has_quant)
    write_file_atomic(folder / "plan.json", quant::plan_to_json(averaged_model()->plan()));
}

}  // namespace driftless::lab
