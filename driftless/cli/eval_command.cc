// SPDX-License-Identifier: Apache-2.0
// driftless eval: how many boards of a file a model solves.
#include <chrono>
#include <cstdio>
#include <memory>
#include <string>

#include <nlohmann/json.hpp>

#include "driftless/base/error.h"
#include "driftless/base/file.h"
#include "driftless/cli/backend.h"
#include "driftless/cli/command.h"
#include "driftless/cli/model_input.h"
#include "driftless/cli/progress.h"
#include "driftless/reason/run.h"

namespace driftless::cli {
namespace {

using Json = nlohmann::ordered_json;

struct EvalOptions {
  std::string model;
  std::string data;
  int64_t limit = 0;  // 0: all
  int64_t steps = 0;  // 0: as many as the model was trained with
  std::string halting = "fixed";
  BackendOptions backend;
  uint64_t seed = 0;
  std::string predictions;
  std::string json;
};

struct Evaluation {
  task::Score score;
  std::vector<reason::Answer> answers;  // by board
  double wall_s = 0;
};

Evaluation evaluate(const store::Checkpoint& checkpoint, const task::Task& task,
                    std::span<const task::Example> examples, const EvalOptions& options) {
  const auto reasoner = make_reasoner(checkpoint, options.backend);
  Evaluation result;
  result.answers.resize(examples.size());
  Progress progress(std::ssize(examples));
  const auto start = std::chrono::steady_clock::now();
  reason::run(*reasoner, boards_of(examples, options.seed),
              {.halting = reason::find_halting(options.halting), .max_steps = options.steps},
              [&](int64_t board, const reason::Answer& answer) {
                const task::Example& example = examples[static_cast<size_t>(board)];
                result.score.add(task.check(example, answer.tokens),
                                 task::matching_cells(example.label, answer.tokens), answer.steps);
                result.answers[static_cast<size_t>(board)] = answer;
                progress.show(result.score.exact.n,
                              std::to_string(result.score.exact.hits) + " exact");
              });
  result.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

Json share_json(const task::Share& share) {
  const task::Interval interval = share.interval();
  return {{"share", share.value()},
          {"hits", share.hits},
          {"n", share.n},
          {"low", interval.low},
          {"high", interval.high}};
}

Json summary(const Evaluation& result, const EvalOptions& options) {
  return {{"model", options.model},
          {"data", options.data},
          {"device", options.backend.device},
          {"dtype", options.backend.dtype},
          {"halting", options.halting},
          {"max_steps", options.steps},
          {"seed", options.seed},
          {"threads", options.backend.threads},
          {"exact", share_json(result.score.exact)},
          {"accepted", share_json(result.score.accepted)},
          {"cells", share_json(result.score.cells)},
          {"mean_steps", result.score.mean_steps()},
          {"wall_s", result.wall_s}};
}

std::string predictions_text(const task::Task& task, std::span<const task::Example> examples,
                             const Evaluation& result) {
  std::string text;
  for (size_t i = 0; i < examples.size(); ++i) {
    const reason::Answer& answer = result.answers[i];
    const Json line = {{"question", task::to_text(task, examples[i].input)},
                       {"prediction", task::to_text(task, answer.tokens)},
                       {"exact", task.check(examples[i], answer.tokens) == task::Outcome::Exact},
                       {"steps", answer.steps},
                       {"halt_logit", answer.halt_logit}};
    text += line.dump() + "\n";
  }
  return text;
}

void print_share(const char* name, const task::Share& share, const char* unit) {
  const task::Interval interval = share.interval();
  std::printf("%-10s %6.2f %%   (95 %% interval %.2f to %.2f, n %lld %s)\n", name,
              100 * share.value(), 100 * interval.low, 100 * interval.high,
              static_cast<long long>(share.n), unit);
}

void print_result(const Evaluation& result, const EvalOptions& options) {
  const task::Score& score = result.score;
  print_share("exact", score.exact, "boards");
  if (score.accepted.hits != score.exact.hits) print_share("accepted", score.accepted, "boards");
  print_share("cells", score.cells, "cells");
  std::printf("%-10s %6.2f     (at most %lld, halting %s)\n", "steps", score.mean_steps(),
              static_cast<long long>(options.steps), options.halting.c_str());
  std::printf("%-10s %6.2f s   (%.2f boards/s, %s, %lld threads, %s)\n", "time", result.wall_s,
              static_cast<double>(score.exact.n) / result.wall_s, options.backend.device.c_str(),
              static_cast<long long>(options.backend.threads), options.backend.dtype.c_str());
}

void eval(EvalOptions options) {
  const store::Checkpoint checkpoint = store::load_checkpoint(options.model);
  const task::Task& task = task_of(checkpoint);
  reason::find_halting(options.halting);
  std::vector<task::Example> examples = task::read_examples(task, options.data);
  if (options.limit > 0 && options.limit < std::ssize(examples))
    examples.resize(static_cast<size_t>(options.limit));
  require_fits(checkpoint, examples, options.data);
  if (options.steps == 0) options.steps = checkpoint.config.halt_max_steps;
  const Evaluation result = evaluate(checkpoint, task, examples, options);
  if (!options.predictions.empty())
    write_file_atomic(options.predictions, predictions_text(task, examples, result));
  if (!options.json.empty())
    write_file_atomic(options.json, summary(result, options).dump(2) + "\n");
  print_result(result, options);
}

}  // namespace

void add_eval_command(CLI::App& verb) {
  auto options = std::make_shared<EvalOptions>();
  verb.add_option("model", options->model, "checkpoint (safetensors)")->required();
  verb.add_option("--data", options->data, "boards with answers, in a file of the model's task")
      ->required();
  verb.add_option("--limit", options->limit, "take only the first N boards")
      ->check(CLI::PositiveNumber);
  verb.add_option("--steps", options->steps, "at most this many steps (default: the model's)")
      ->check(CLI::PositiveNumber);
  verb.add_option("--halting", options->halting, "fixed, halt or stable")->capture_default_str();
  add_backend_flags(verb, options->backend);
  verb.add_option("--seed", options->seed, "of EqR's random states and noise")
      ->capture_default_str();
  verb.add_option("--predictions", options->predictions, "write one JSON line per board");
  verb.add_option("--json", options->json, "write the result as JSON");
  show_example(verb,
               "driftless eval models/sudoku-small.safetensors --data models/demo-sudoku.csv "
               "--halting halt");
  verb.callback([options] { eval(*options); });
}

}  // namespace driftless::cli
