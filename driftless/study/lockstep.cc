// SPDX-License-Identifier: Apache-2.0
#include "driftless/study/lockstep.h"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <utility>

#include "driftless/base/error.h"
#include "driftless/reason/boards.h"
#include "driftless/reason/readout.h"
#include "driftless/study/measure/layer_errors.h"

namespace driftless::study {
namespace {

double timed_step(reason::Reasoner& reasoner, std::span<const int64_t> slots) {
  const auto start = std::chrono::steady_clock::now();
  reasoner.step(slots);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

Snapshot snapshot(const reason::Reasoner& reasoner, int64_t slot) {
  return {.states = reasoner.states(slot), .readout = reasoner.read(slot)};
}

}  // namespace

Lockstep::Lockstep(const LockstepOptions& options, const task::Task& task, const Backend& backend,
                   std::span<const Subject> subjects)
    : options_(options), task_(task), pool_(options.threads) {
  DRIFTLESS_REQUIRE(options.steps >= 1 && options.batch >= 1, ErrorCode::InvalidArgument,
                    "study: steps and batch; got ", options.steps, " and ", options.batch,
                    ", expected at least 1");
  const bool has_dynamics = std::any_of(subjects.begin(), subjects.end(),
                                        [](const Subject& subject) { return subject.dynamics; });
  const auto slots_for = [&](bool dynamics) {
    return dynamics ? 2 * options.batch : options.batch;
  };
  reference_ = backend.make({.config = options_.config, .slots = slots_for(has_dynamics)});
  for (const Subject& subject : subjects) {
    const Coherence coherence = subject.coherence ? Coherence::Measure : Coherence::Ignore;
    Runner runner{.subject = subject,
                  .own = nullptr,
                  .reasoner = reference_.get(),
                  .trajectory = {reference_->config(), task, options.batch, coherence},
                  .dynamics = nullptr,
                  .simulation = {}};
    if (!subject.plan.is_float()) {
      runner.own = backend.make({.config = options_.config,
                                 .plan = subject.plan,
                                 .slots = slots_for(subject.dynamics),
                                 .execution = subject.execution});
      runner.reasoner = runner.own.get();
    }
    if (subject.dynamics)
      runner.dynamics =
          std::make_unique<DynamicsProbe>(*reference_, *runner.reasoner, options_.seed);
    if (subject.execution == Execution::Native && !runners_.empty() &&
        runners_.back().subject.execution == Execution::Simulated &&
        runners_.back().subject.plan == subject.plan)
      runner.simulation = runners_.size() - 1;
    runners_.push_back(std::move(runner));
  }
}

void Lockstep::start(std::span<const reason::Board> boards, int64_t first_board) {
  slots_.resize(boards.size());
  std::iota(slots_.begin(), slots_.end(), 0);
  for (const int64_t slot : slots_) {
    const reason::Board& board = boards[static_cast<size_t>(slot)];
    reference_->reset(slot, board);
    for (Runner& runner : runners_)
      if (runner.own) runner.own->reset(slot, board);
  }
  // A device hands over the states of all boards at once, so they are read after the last reset.
  for (const int64_t slot : slots_)
    for (Runner& runner : runners_)
      runner.trajectory.start(slot, reference_->states(slot), runner.reasoner->states(slot));
  for (Runner& runner : runners_)
    if (runner.dynamics) runner.dynamics->start(boards, first_board);
}

void Lockstep::step_runner(Runner& runner, int64_t first_board, BatchResult& result) {
  if (runner.own == nullptr) return;
  // Boards below layer_boards, counted over the whole study, are shown to the layer probe.
  const int64_t shown =
      std::clamp<int64_t>(runner.subject.layer_boards - first_board, 0, std::ssize(slots_));
  const std::span<const int64_t> slots(slots_);
  if (shown > 0) {
    LayerErrors errors(result.tally);
    runner.own->step(slots.first(static_cast<size_t>(shown)), &errors);
  }
  if (shown < std::ssize(slots_))
    result.wall_s += timed_step(*runner.own, slots.subspan(static_cast<size_t>(shown)));
}

void Lockstep::observe(Runner& runner, int64_t step, std::span<const task::Example> examples,
                       int64_t first_board, Tally& tally) {
  const auto position = step + 1 == options_.steps ? TrajectoryProbe::Position::Last
                                                   : TrajectoryProbe::Position::Middle;
  std::vector<std::pair<Snapshot, Snapshot>> pairs;
  pairs.reserve(slots_.size());
  for (const int64_t slot : slots_) {
    pairs.emplace_back(snapshot(*reference_, slot), snapshot(*runner.reasoner, slot));
    reason::require_finite(pairs.back().second.readout, first_board + slot, step + 1);
  }
  // Boards add up in their order, whoever compared them.
  std::vector<Tally> tallies(slots_.size());
  pool_.parallel_for(std::ssize(slots_), [&](int64_t slot, int64_t) {
    const auto i = static_cast<size_t>(slot);
    runner.trajectory.observe(slot, step, position, examples[i], pairs[i].first, pairs[i].second,
                              tallies[i]);
  });
  for (const Tally& board : tallies) tally.merge(board);
}

void Lockstep::compare_with_simulation(const Runner& runner,
                                       std::span<const task::Example> examples,
                                       Tally& tally) const {
  if (!runner.simulation) return;
  const reason::Reasoner& simulation = *runners_[*runner.simulation].reasoner;
  const int64_t vocab_size = options_.config.vocab_size;
  for (const int64_t slot : slots_) {
    const task::Example& example = examples[static_cast<size_t>(slot)];
    const std::vector<uint8_t> a = reason::answer_of(simulation.read(slot), vocab_size);
    const std::vector<uint8_t> b = reason::answer_of(runner.reasoner->read(slot), vocab_size);
    const bool is_right_a = task_.check(example, a) == task::Outcome::Exact;
    const bool is_right_b = task_.check(example, b) == task::Outcome::Exact;
    tally.add(kNativeLost, 0, is_right_a && !is_right_b ? 1 : 0);
    tally.add(kNativeGained, 0, !is_right_a && is_right_b ? 1 : 0);
    tally.add(kNativeSame, 0, a == b ? 1 : 0);
  }
}

std::vector<BatchResult> Lockstep::run(std::span<const task::Example> examples,
                                       int64_t first_board) {
  DRIFTLESS_ASSERT(std::ssize(examples) <= options_.batch);
  const std::vector<reason::Board> boards = reason::boards_of(examples, options_.seed, first_board);
  start(boards, first_board);
  std::vector<BatchResult> results(runners_.size());
  for (int64_t step = 0; step < options_.steps; ++step) {
    for (Runner& runner : runners_)
      if (runner.dynamics) runner.dynamics->before_step();
    const double float_wall_s = timed_step(*reference_, slots_);
    for (const int64_t slot : slots_)
      reason::require_finite(reference_->read(slot), first_board + slot, step + 1);
    for (size_t i = 0; i < runners_.size(); ++i) {
      results[i].float_wall_s += float_wall_s;
      step_runner(runners_[i], first_board, results[i]);
      observe(runners_[i], step, examples, first_board, results[i].tally);
      if (runners_[i].dynamics)
        runners_[i].dynamics->after_step(step, options_.steps, results[i].tally);
      if (runners_[i].own == nullptr) results[i].wall_s += float_wall_s;
    }
  }
  for (size_t i = 0; i < runners_.size(); ++i)
    compare_with_simulation(runners_[i], examples, results[i].tally);
  return results;
}

}  // namespace driftless::study
