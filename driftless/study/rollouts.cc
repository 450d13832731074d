// SPDX-License-Identifier: Apache-2.0
#include "driftless/study/rollouts.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "driftless/base/rng.h"
#include "driftless/reason/halting.h"
#include "driftless/reason/readout.h"
#include "driftless/study/measure/metrics.h"
#include "driftless/study/measure/trajectory.h"
#include "driftless/study/seeds.h"

namespace driftless::study {
namespace {

using Answer = std::vector<uint8_t>;

struct Vote {
  Answer answer;
  int64_t count;
};

/// How a trajectory stands after a step.
struct Standing {
  double halt_score;
  double change;  ///< of its logits; infinite after the first step
};

/// How much the logits of one trajectory still change.
class Settling {
 public:
  /// After the next step.
  double change(std::span<const float> logits, int64_t vocab_size) {
    if (!before_.empty()) changes_.push_back(mean_cell_change(logits, vocab_size));
    before_.assign(logits.begin(), logits.end());
    if (changes_.empty()) return std::numeric_limits<double>::infinity();
    const size_t count = std::min(kSettlingWindow, changes_.size());
    return std::accumulate(changes_.end() - static_cast<std::ptrdiff_t>(count), changes_.end(),
                           0.0) /
           static_cast<double>(count);
  }

 private:
  [[nodiscard]] double mean_cell_change(std::span<const float> logits, int64_t vocab_size) const {
    const auto width = static_cast<size_t>(vocab_size);
    double sum = 0;
    for (size_t first = 0; first < logits.size(); first += width)
      sum += distance(logits.subspan(first, width), std::span(before_).subspan(first, width));
    return sum * static_cast<double>(width) / static_cast<double>(logits.size());
  }

  std::vector<float> before_;
  std::vector<double> changes_;
};

bool is_right(const task::Task& task, const task::Example& example, const Answer& answer) {
  return task.check(example, answer) == task::Outcome::Exact;
}

double cell_share(const task::Example& example, const Answer& answer) {
  return task::matching_cells(example.label, answer).value();
}

/// What the trajectories of one board say after one step.
class StepVotes {
 public:
  void add(const reason::Readout& readout, const Standing& standing, int64_t vocab_size) {
    if (logit_sums_.empty()) logit_sums_.resize(readout.logits.size());
    for (size_t i = 0; i < logit_sums_.size(); ++i) logit_sums_[i] += readout.logits[i];
    Answer answer = reason::answer_of(readout, vocab_size);
    const auto same = std::find_if(votes_.begin(), votes_.end(),
                                   [&](const Vote& vote) { return vote.answer == answer; });
    if (same != votes_.end()) ++same->count;
    if (standing.halt_score > best_score_) {
      best_score_ = standing.halt_score;
      selected_ = answer;
    }
    if (votes_.empty() || standing.change < least_change_) {
      least_change_ = standing.change;
      settled_ = answer;
    }
    if (same == votes_.end()) votes_.push_back({std::move(answer), 1});
  }

  void count(const task::Task& task, const task::Example& example, int64_t vocab_size, int64_t step,
             Tally& tally) const {
    const auto add = [&](std::string_view kind, const Answer& answer) {
      tally.add(rollout_name(kind, "exact"), step, is_right(task, example, answer) ? 1 : 0);
      tally.add(rollout_name(kind, "cells"), step, cell_share(example, answer));
    };
    const std::vector<float> means(logit_sums_.begin(), logit_sums_.end());
    add("average", reason::answer_of({.logits = means}, vocab_size));
    add("select", selected_);
    add("settled", settled_);
    add("majority",
        std::max_element(votes_.begin(), votes_.end(), [](const Vote& a, const Vote& b) {
          return a.count < b.count;
        })->answer);
    add("any", best_answer(example));
    add("single", votes_.front().answer);
  }

  [[nodiscard]] const Answer& selected() const { return selected_; }

 private:
  /// The one with the most cells right; a right answer has all.
  [[nodiscard]] const Answer& best_answer(const task::Example& example) const {
    return std::max_element(votes_.begin(), votes_.end(),
                            [&](const Vote& a, const Vote& b) {
                              return task::matching_cells(example.label, a.answer).hits <
                                     task::matching_cells(example.label, b.answer).hits;
                            })
        ->answer;
  }

  std::vector<double> logit_sums_;
  std::vector<Vote> votes_;  // in order of first appearance
  Answer selected_;
  double best_score_ = -std::numeric_limits<double>::infinity();
  Answer settled_;
  double least_change_ = std::numeric_limits<double>::infinity();
};

/// Accuracy against the float model's, as a row without rollouts counts it.
void count_pair(const task::Task& task, const task::Example& example, const Answer& reference,
                const Answer& other, Tally& tally) {
  const bool is_right_a = is_right(task, example, reference);
  const bool is_right_b = is_right(task, example, other);
  tally.add("float_exact", 0, is_right_a ? 1 : 0);
  tally.add("exact", 0, is_right_b ? 1 : 0);
  tally.add("lost", 0, is_right_a && !is_right_b ? 1 : 0);
  tally.add("gained", 0, !is_right_a && is_right_b ? 1 : 0);
  tally.add("float_cells", 0, cell_share(example, reference));
  tally.add("cells", 0, cell_share(example, other));
}

struct NoisyStates {
  std::vector<float> h, l;
};

NoisyStates with_noise(const reason::States& states, double noise, uint64_t seed) {
  NoisyStates noisy{.h = {states.h.begin(), states.h.end()},
                    .l = {states.l.begin(), states.l.end()}};
  Rng rng(seed);
  for (float& value : noisy.l) value += static_cast<float>(noise * rng.gaussian());
  return noisy;
}

/// All trajectories of a batch, run one after the other over all of its boards.
class BatchVotes {
 public:
  BatchVotes(reason::Reasoner& reasoner, const RolloutBatch& batch, const RolloutOptions& options)
      : reasoner_(reasoner),
        batch_(batch),
        options_(options),
        slots_(batch.boards.size()),
        votes_(batch.boards.size(), std::vector<StepVotes>(static_cast<size_t>(options.steps))),
        latent_sums_(batch.boards.size()) {
    std::iota(slots_.begin(), slots_.end(), 0);
  }

  void run(int64_t rollout) {
    for (size_t i = 0; i < slots_.size(); ++i) {
      reason::Board board = batch_.boards[i];
      if (rollout > 0) board.seed = seed_of(i, rollout, 0);
      reasoner_.reset(slots_[i], board);
    }
    std::vector<Settling> settling(slots_.size());
    for (int64_t step = 0; step < options_.steps; ++step) {
      if (options_.noise > 0) add_noise(rollout, step);
      reasoner_.step(slots_);
      for (size_t i = 0; i < slots_.size(); ++i) {
        const reason::Readout readout = reasoner_.read(slots_[i]);
        const int64_t vocab_size = reasoner_.config().vocab_size;
        votes_[i][static_cast<size_t>(step)].add(
            readout,
            {.halt_score = reason::halt_score(reasoner_.config(), readout),
             .change = settling[i].change(readout.logits, vocab_size)},
            vocab_size);
      }
    }
    for (size_t i = 0; i < slots_.size(); ++i) {
      const std::span<const float> latent = reasoner_.states(slots_[i]).l;
      latent_sums_[i].resize(latent.size());
      for (size_t k = 0; k < latent.size(); ++k) latent_sums_[i][k] += latent[k];
    }
  }

  void count(const task::Task& task, Tally& tally) const {
    for (size_t i = 0; i < slots_.size(); ++i) {
      const task::Example& example = batch_.examples[i];
      for (int64_t step = 0; step < options_.steps; ++step)
        votes_[i][static_cast<size_t>(step)].count(task, example, reasoner_.config().vocab_size,
                                                   step, tally);
      std::vector<float> mean(latent_sums_[i].size());
      for (size_t k = 0; k < mean.size(); ++k)
        mean[k] = static_cast<float>(latent_sums_[i][k] / static_cast<double>(options_.rollouts));
      tally.add(kRolloutDivergence, 0, distance(mean, batch_.float_latent[i]));
      count_pair(task, example, batch_.float_answers[i], votes_[i].back().selected(), tally);
    }
  }

 private:
  /// A device hands over the states of all boards at once, so they are read before any is set.
  void add_noise(int64_t rollout, int64_t step) {
    std::vector<NoisyStates> noisy;
    noisy.reserve(slots_.size());
    for (size_t i = 0; i < slots_.size(); ++i)
      noisy.push_back(
          with_noise(reasoner_.states(slots_[i]), options_.noise, seed_of(i, rollout, step + 1)));
    for (size_t i = 0; i < slots_.size(); ++i)
      reasoner_.set_states(slots_[i], {.h = noisy[i].h, .l = noisy[i].l});
  }

  [[nodiscard]] uint64_t seed_of(size_t board, int64_t rollout, int64_t step) const {
    return mix_seeds({options_.seed, static_cast<uint64_t>(batch_.first_board) + board,
                      static_cast<uint64_t>(rollout), static_cast<uint64_t>(step)});
  }

  reason::Reasoner& reasoner_;
  const RolloutBatch& batch_;
  const RolloutOptions& options_;
  std::vector<int64_t> slots_;
  std::vector<std::vector<StepVotes>> votes_;  // by board and step
  std::vector<std::vector<double>> latent_sums_;
};

}  // namespace

std::string rollout_name(std::string_view answer, std::string_view metric) {
  return "rollout." + std::string(answer) + "." + std::string(metric);
}

void run_rollouts(reason::Reasoner& reasoner, const task::Task& task, const RolloutBatch& batch,
                  const RolloutOptions& options, Tally& tally) {
  BatchVotes votes(reasoner, batch, options);
  for (int64_t rollout = 0; rollout < options.rollouts; ++rollout) votes.run(rollout);
  votes.count(task, tally);
}

}  // namespace driftless::study
