// SPDX-License-Identifier: Apache-2.0
#include "driftless/api/driftless.h"

#include <atomic>
#include <utility>

#include "driftless/api/turn.h"
#include "driftless/base/error.h"
#include "driftless/integer/kernels/kernel_set.h"
#include "driftless/native/native_reasoner.h"
#include "driftless/quant/plan/plan.h"
#include "driftless/reason/plan/linear_layers.h"
#include "driftless/reason/run.h"
#include "driftless/store/packed_model.h"

namespace driftless {
namespace {

store::PackedModel load_model(const std::filesystem::path& path, const EngineOptions& options) {
  if (store::is_packed(path)) return store::load_packed(path);
  const store::Checkpoint checkpoint = store::load_checkpoint(path);
  const quant::QuantPlan plan =
      quant::resolve({.weights = quant::parse_quant_spec(options.weights),
                      .acts = quant::parse_quant_spec(options.activations)},
                     reason::linear_layers(checkpoint.config));
  return store::pack_model(checkpoint, native::with_windows(plan));
}

}  // namespace

struct Engine::State {
  std::unique_ptr<reason::Reasoner> reasoner;
  std::atomic_flag is_busy{};
};

Engine::Engine(std::unique_ptr<State> state) noexcept : state_(std::move(state)) {}
Engine::Engine(Engine&&) noexcept = default;
Engine& Engine::operator=(Engine&&) noexcept = default;
Engine::~Engine() = default;

Engine Engine::load(const std::filesystem::path& path, const EngineOptions& options) {
  auto reasoner = native::make_native_reasoner(
      load_model(path, options), {.slots = options.slots, .threads = options.threads});
  auto state = std::make_unique<State>();
  state->reasoner = std::move(reasoner);
  return Engine(std::move(state));
}

int64_t Engine::cells() const noexcept { return state_->reasoner->config().seq_len; }
int64_t Engine::vocabulary() const noexcept { return state_->reasoner->config().vocab_size; }
int64_t Engine::trained_steps() const noexcept { return state_->reasoner->config().halt_max_steps; }
std::string_view Engine::instruction_set() const noexcept { return integer::kernels().name; }

std::vector<Solution> Engine::solve(std::span<const Board> boards, const SolveOptions& options) {
  const api::Turn turn(state_->is_busy, "solve");
  std::vector<reason::Board> given;
  given.reserve(boards.size());
  for (const Board& board : boards)
    given.push_back({.tokens = board.tokens, .puzzle = board.puzzle, .seed = board.seed});
  const bool stops_early = options.halting == Halting::WhenModelSays;
  reason::AnswerSink on_step;
  if (options.on_step) {
    on_step = [&](int64_t board, const reason::Answer& answer) {
      options.on_step({board, answer.steps, answer.tokens, answer.halt_logit});
    };
  }
  std::vector<Solution> solutions(boards.size());
  reason::run(
      *state_->reasoner, given,
      {.halting = reason::find_halting(stops_early ? "halt" : "fixed"),
       .max_steps = options.max_steps == 0 ? trained_steps() : options.max_steps},
      [&](int64_t board, const reason::Answer& answer) {
        solutions[static_cast<size_t>(board)] = {answer.tokens, answer.steps, answer.halt_logit};
      },
      on_step);
  return solutions;
}

std::string_view version() noexcept { return DRIFTLESS_VERSION; }

int error_code(const std::exception& error) noexcept {
  constexpr int kFirst = 10;  // as the program's exit codes
  const auto* const known = dynamic_cast<const Error*>(&error);
  return kFirst + static_cast<int>(known != nullptr ? known->code() : ErrorCode::Internal);
}

}  // namespace driftless
