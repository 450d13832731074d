// SPDX-License-Identifier: Apache-2.0
#include "driftless/cli/evaluation.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <string>

#include "driftless/cli/model_input.h"
#include "driftless/cli/terminal/interrupt.h"
#include "driftless/cli/terminal/progress.h"
#include "driftless/reason/boards.h"
#include "driftless/reason/loss.h"
#include "driftless/task/arc/augment.h"

namespace driftless::cli {
namespace {

namespace arc = task::arc;

constexpr std::array<int64_t, 6> kPassRates = {1, 2, 5, 10, 100, 1000};

[[noreturn]] void stop(int64_t done, size_t total, const task::Score& score) {
  throw Interrupted("interrupted after " + std::to_string(done) + " of " + std::to_string(total) +
                    " boards (" + std::to_string(score.exact.hits) +
                    " exact); nothing was written");
}

/// The largest number of boards that one test input has.
int64_t most_votes(std::span<const arc::Puzzle> puzzles, std::span<const task::Example> examples) {
  std::map<std::string, int64_t> boards;
  for (const task::Example& example : examples)
    ++boards[arc::parse_variant_name(example.name).puzzle];
  int64_t most = 0;
  for (const arc::Puzzle& puzzle : puzzles)
    if (!puzzle.test.empty()) most = std::max(most, boards[puzzle.name] / std::ssize(puzzle.test));
  return most;
}

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
                    std::span<const task::Example> examples, const EvaluateOptions& options) {
  Evaluation result;
  result.answers.resize(examples.size());
  std::vector<double> lm_losses(examples.size());
  int64_t done = 0;
  Progress progress("evaluating", std::ssize(examples));
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
        progress.show(++done,
                      std::to_string(result.score.exact.hits) + " exact  " + options.scheme);
      },
      [&](int64_t, const reason::Answer&) {
        if (was_interrupted()) stop(done, examples.size(), result.score);
      });
  result.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  // In the order of the boards, whichever was done first.
  for (size_t i = 0; i < examples.size(); ++i)
    add_board(examples[i], result.answers[i], lm_losses[i], result.published);
  return result;
}

arc::Ballot count_votes(std::span<const task::Example> examples,
                        std::span<const reason::Answer> answers) {
  arc::Ballot ballot;
  for (size_t i = 0; i < examples.size(); ++i)
    ballot.add(examples[i].name, examples[i].input, answers[i].tokens,
               static_cast<double>(answers[i].halt_logit));
  return ballot;
}

ArcScore score_arc(std::span<const arc::Puzzle> puzzles, std::span<const task::Example> examples,
                   std::span<const reason::Answer> answers, const arc::Ballot& ballot) {
  std::vector<int64_t> ks;
  const int64_t most = most_votes(puzzles, examples);
  for (const int64_t k : kPassRates)
    if (k <= std::max<int64_t>(2, most)) ks.push_back(k);
  ArcScore score{.pass = ballot.score(puzzles, ks), .exact = {}, .cells = {}};

  struct Sums {
    task::Share exact, cells;
  };
  std::map<std::string, Sums> tasks;
  for (size_t i = 0; i < examples.size(); ++i) {
    const task::Share cells = task::matching_cells(examples[i].label, answers[i].tokens);
    if (cells.n == 0) continue;
    Sums& sums = tasks[arc::parse_variant_name(examples[i].name).puzzle];
    sums.exact.add(cells.hits == cells.n ? 1 : 0, 1);
    sums.cells.add(cells.hits, cells.n);
  }
  for (const auto& [name, sums] : tasks) {
    score.exact.add(sums.exact.value());
    score.cells.add(sums.cells.value());
  }
  return score;
}

}  // namespace driftless::cli
