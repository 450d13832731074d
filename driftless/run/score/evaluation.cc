// SPDX-License-Identifier: Apache-2.0
#include "driftless/run/score/evaluation.h"

#include <chrono>

#include "driftless/reason/boards.h"
#include "driftless/reason/loss.h"

namespace driftless::run {
namespace {

void add_board(const task::Example& example, const reason::Answer& answer, double lm_loss,
               PublishedMetrics& metrics) {
  const task::Share cells = task::matching_cells(example.label, answer.tokens);
  if (cells.n == 0) return;
  const bool is_exact = cells.hits == cells.n;
  metrics.lm_loss.add(lm_loss);
  metrics.halt_loss.add(
      reason::binary_loss(answer.halt_logit, is_exact ? reason::Target::Yes : reason::Target::No));
  metrics.halt_accuracy.add((answer.halt_logit >= 0) == is_exact ? 1 : 0, 1);
}

}  // namespace

Evaluation evaluate(reason::Reasoner& reasoner, const task::Task& task,
                    std::span<const task::Example> examples, const ScoringOptions& options) {
  Evaluation result;
  result.answers.resize(examples.size());
  std::vector<double> lm_losses(examples.size());
  int64_t done = 0;
  const auto start = std::chrono::steady_clock::now();
  reason::run(
      reasoner, reason::boards_of(examples, options.seed),
      {.halting = options.halting,
       .max_steps = options.max_steps,
       .on_last_readout =
           [&](int64_t board, const reason::Readout& readout) {
             const auto index = static_cast<size_t>(board);
             lm_losses[index] = reason::stablemax_loss(readout.logits, examples[index].label);
           }},
      [&](int64_t board, const reason::Answer& answer) {
        const task::Example& example = examples[static_cast<size_t>(board)];
        result.score.add(task.check(example, answer.tokens),
                         task::matching_cells(example.label, answer.tokens), answer.steps);
        result.answers[static_cast<size_t>(board)] = answer;
        ++done;
      },
      [&](int64_t, const reason::Answer&) {
        if (options.watch) options.watch(done, result.score);
      });
  result.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  // In the order of the boards, whichever was done first.
  for (size_t i = 0; i < examples.size(); ++i)
    add_board(examples[i], result.answers[i], lm_losses[i], result.published);
  return result;
}

}  // namespace driftless::run
