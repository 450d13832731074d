// SPDX-License-Identifier: Apache-2.0
// driftless eval: how many boards of a file a model solves, in float or under simulated
// quantization.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "driftless/base/error.h"
#include "driftless/base/text/quote.h"
#include "driftless/cli/command.h"
#include "driftless/cli/flags/run_flags.h"
#include "driftless/cli/model_input.h"
#include "driftless/cli/terminal/interrupt.h"
#include "driftless/cli/terminal/streams.h"
#include "driftless/cli/terminal/watch.h"
#include "driftless/run/boards.h"
#include "driftless/run/score/against.h"
#include "driftless/run/score/evaluation.h"
#include "driftless/run/score/evaluation_json.h"
#include "driftless/run/score/votes.h"

namespace driftless::cli {
namespace {

using run::estimate_json;
using run::mean_json;
using run::share_json;
using Json = run::Json;

struct EvalOptions {
  std::string model;
  run::BoardFile data;
  run::ArcOptions arc;
  int64_t steps = 0;  // 0: as many as the model was trained with
  std::string halting = "fixed";
  run::BackendOptions backend;
  uint64_t seed = 0;
  run::SchemeText scheme;
  std::string predictions;
  std::string against;
  std::string json;
  std::string submission;
};

void warn_of_strangers(const run::Boards& boards) {
  if (boards.strangers.empty()) return;
  std::fprintf(stderr,
               "driftless: warning: the model has no puzzle row for %zu of %zu tasks, which "
               "count as wrong (first: %s)\n",
               boards.strangers.size(), boards.puzzles.size(),
               quote(boards.strangers.front()).c_str());
}

void print_estimate(std::FILE* out, const std::string& name, double share,
                    const task::Interval& interval, const std::string& unit) {
  std::fprintf(out, "%-10s %6.2f %%   (95 %% interval %.2f to %.2f, n %s)\n", name.c_str(),
               100 * share, 100 * interval.low, 100 * interval.high, unit.c_str());
}

void print_mean(std::FILE* out, const char* name, const task::Moments& shares, const char* unit) {
  print_estimate(out, name, shares.mean(), shares.share_interval(),
                 std::to_string(std::llround(shares.n)) + unit);
}

void print_share(std::FILE* out, const char* name, const task::Share& share,
                 const std::string& unit) {
  print_estimate(out, name, share.value(), share.interval(), std::to_string(share.n) + unit);
}

/// Prints the accuracy and adds it to the record.
void report_boards(std::FILE* out, const run::Boards& boards, const task::Score& score,
                   Json& record) {
  record["exact"] = share_json(score.exact);
  record["accepted"] = share_json(score.accepted);
  record["cells"] = mean_json(score.cells);
  print_share(out, "exact", score.exact, " boards");
  if (boards.task.has_many_answers || score.accepted.hits != score.exact.hits)
    print_share(out, "accepted", score.accepted,
                " boards; exact or another " + std::string(boards.task.other_answer));
  print_mean(out, "cells", score.cells, " boards");
}

/// The same for ARC; also writes the submission.
void report_arc(std::FILE* out, const run::Boards& boards, const run::Evaluation& result,
                const EvalOptions& options, Json& record) {
  const task::arc::Ballot ballot = run::count_votes(boards.examples, result.answers);
  const run::ArcScore score =
      run::score_arc(boards.puzzles, boards.examples, result.answers, ballot);
  record["boards"] = boards.examples.size();
  for (const task::arc::PassRate& rate : score.pass) {
    Json entry = {{"k", rate.k}};
    entry.update(estimate_json(rate.puzzle_mean, rate.interval(), rate.puzzles.n));
    entry["inputs"] = share_json(rate.inputs);
    entry["whole_tasks"] = share_json(rate.puzzles);
    record["pass"].push_back(std::move(entry));
    print_estimate(out, "pass@" + std::to_string(rate.k), rate.puzzle_mean, rate.interval(),
                   std::to_string(rate.puzzles.n) + " tasks");
  }
  record["exact"] = mean_json(score.exact);
  record["cells"] = mean_json(score.cells);
  print_mean(out, "exact", score.exact, " tasks; of a task's boards");
  print_mean(out, "cells", score.cells, " tasks");
  if (!options.submission.empty())
    write_output(options.submission, ballot.submission(boards.puzzles) + "\n");
}

Json settings_json(const EvalOptions& options, const run::PlannedScheme& scheme) {
  return {{"model", options.model},
          {"data", options.data.path},
          {"device", options.backend.device},
          {"dtype", options.backend.dtype},
          {"scheme", scheme.text},
          {"calibration", scheme.calibration},
          {"halting", options.halting},
          {"max_steps", options.steps},
          {"seed", options.seed},
          {"threads", options.backend.threads}};
}

void print_scheme(std::FILE* out, const run::PlannedScheme& scheme) {
  std::fprintf(out, "%-10s %s\n", "scheme", scheme.text.c_str());
  if (!scheme.calibration.empty())
    std::fprintf(out, "%-10s %s\n", "calibrated", scheme.calibration.c_str());
}

void report_effort(std::FILE* out, const run::Evaluation& result, const EvalOptions& options,
                   Json& record) {
  int64_t steps = 0;
  for (const reason::Answer& answer : result.answers) steps += answer.steps;
  const auto n = static_cast<double>(std::max<size_t>(1, result.answers.size()));
  record["mean_steps"] = static_cast<double>(steps) / n;
  record["wall_s"] = result.wall_s;
  std::fprintf(out, "%-10s %6.2f     (at most %lld, halting %s)\n", "steps",
               static_cast<double>(steps) / n, static_cast<long long>(options.steps),
               options.halting.c_str());
  std::fprintf(out, "%-10s %6.2f s   (%.2f boards/s, %s, %lld threads, %s)\n", "time",
               result.wall_s, n / result.wall_s, options.backend.device.c_str(),
               static_cast<long long>(options.backend.threads), options.backend.dtype.c_str());
}

void report_pairs(std::FILE* out, const run::Against& against, Json& record) {
  record["paired"] = run::against_json(against);
  const task::Interval interval = against.exact.interval();
  std::fprintf(
      out,
      "%-10s %+6.2f points (95 %% interval %+.2f to %+.2f; %lld lost, %lld gained, p %.3g; "
      "%.3f times the steps)\n",
      "paired", 100 * against.exact.difference(), 100 * interval.low, 100 * interval.high,
      static_cast<long long>(against.exact.lost), static_cast<long long>(against.exact.gained),
      against.exact.p_value(), against.steps_ratio);
}

/// The outputs that take standard output.
std::vector<std::string> printed_outputs(const EvalOptions& options) {
  std::vector<std::string> outputs = {options.json, options.predictions, options.submission};
  std::erase_if(outputs, [](const std::string& path) { return path != kStandardStream; });
  return outputs;
}

std::string predictions_text(const run::Boards& boards, const run::Evaluation& result) {
  std::string text;
  for (size_t i = 0; i < boards.examples.size(); ++i) {
    const task::Example& example = boards.examples[i];
    const reason::Answer& answer = result.answers[i];
    Json line = {{"question", task::to_text(boards.task, example.input)},
                 {"prediction", task::to_text(boards.task, answer.tokens)},
                 {"exact", boards.task.check(example, answer.tokens) == task::Outcome::Exact},
                 {"steps", answer.steps},
                 {"halt_logit", answer.halt_logit}};
    if (boards.are_arc()) line["name"] = example.name;
    text += line.dump() + "\n";
  }
  return text;
}

void require_sound(const EvalOptions& options) {
  const int64_t printed = std::ssize(printed_outputs(options));
  DRIFTLESS_REQUIRE(printed <= 1, ErrorCode::InvalidArgument,
                    "--json, --predictions, --submission: got - for ", printed,
                    " of them, expected standard output for one");
}

void eval(EvalOptions options) {
  require_sound(options);
  const store::ModelFile model = load_model(options.model);
  const store::Checkpoint& checkpoint = model.checkpoint;
  options.arc.seed = options.seed;
  if (options.steps == 0) options.steps = checkpoint.config.halt_max_steps;
  const run::Boards boards =
      run::read_boards_for(checkpoint, options.model, options.data, options.arc);
  warn_of_strangers(boards);
  DRIFTLESS_REQUIRE(options.submission.empty() || boards.are_arc(), ErrorCode::InvalidArgument,
                    "--submission: for ARC models only; got a model for ", boards.task.name);
  std::vector<run::Earlier> earlier;
  if (!options.against.empty()) earlier = run::read_earlier(options.against, boards);
  const InterruptGuard guard;
  const run::PlannedScheme scheme =
      run::planned_scheme(options.scheme, model, options.backend, boards.examples);
  const auto reasoner = run::make_reasoner(model, scheme.plan, options.backend);
  const run::Evaluation result =
      run::evaluate(*reasoner, boards.task, boards.examples,
                    {.halting = reason::find_halting(options.halting),
                     .max_steps = options.steps,
                     .seed = options.seed,
                     .watch = watch_evaluation(std::ssize(boards.examples), scheme.text)});
  if (!options.predictions.empty())
    write_output(options.predictions, predictions_text(boards, result));
  Json record = settings_json(options, scheme);
  std::FILE* const out = printed_outputs(options).empty() ? stdout : stderr;
  print_scheme(out, scheme);
  if (boards.are_arc())
    report_arc(out, boards, result, options, record);
  else
    report_boards(out, boards, result.score, record);
  if (!options.against.empty()) report_pairs(out, run::compare(earlier, boards, result), record);
  record["published"] = run::published_json(result);
  report_effort(out, result, options, record);
  write_output(options.json, record.dump(2) + "\n");
}

void add_arc_flags(const Verb& verb, EvalOptions& options) {
  verb.add_input("--identifiers", options.arc.identifiers,
                 "ARC: JSON list that names the rows of the model's puzzle table (default: of the "
                 "data-set folder, or identifiers.json beside the model)");
  verb.add_option("--variants", options.arc.variants,
                  "ARC: ask about at most N variants of each test input (default: all)")
      .positive();
  verb.add_output("--submission", options.submission,
                  "ARC: write the two best answers of each test input");
}

}  // namespace

void add_eval_command(const Verb& verb) {
  auto options = std::make_shared<EvalOptions>();
  verb.add_input("model", options->model, "checkpoint, packed model or PyTorch file").required();
  verb.add_input("--data", options->data.path,
                 "boards with answers: a file of the model's task, a data-set folder, one of its "
                 "splits, or -")
      .required();
  verb.add_option("--split", options->data.split, "split of a data-set folder").shows_default();
  verb.add_option("--limit", options->data.limit, "take only the first N boards (ARC: tasks)")
      .positive();
  verb.add_option("--steps", options->steps, "at most this many steps (default: the model's)")
      .positive();
  add_halting_flag(verb, options->halting);
  add_backend_flags(verb, options->backend);
  verb.add_option("--seed", options->seed,
                  "of EqR's random states and noise, and of drawn variants")
      .shows_default();
  add_scheme_flags(verb, options->scheme);
  add_arc_flags(verb, *options);
  verb.add_output("--predictions", options->predictions,
                  "write one JSON line per board; - prints them");
  verb.add_input("--against", options->against,
                 "predictions that an earlier eval wrote of these boards: say what was lost and "
                 "gained since");
  verb.add_json(options->json, "write the result as JSON");
  verb.example(
      "driftless eval models/sudoku-small.safetensors --data models/demo-sudoku.csv "
      "--halting halt");
  verb.runs([options] { eval(*options); });
}

}  // namespace driftless::cli
