// SPDX-License-Identifier: Apache-2.0
// driftless solve: watch a model refine a board step by step.
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "driftless/base/error.h"
#include "driftless/base/text_file.h"
#include "driftless/cli/command.h"
#include "driftless/cli/model_input.h"
#include "driftless/cli/terminal/solve_view.h"
#include "driftless/cli/terminal/streams.h"
#include "driftless/reason/boards.h"
#include "driftless/reason/run.h"
#include "driftless/run/backend.h"
#include "driftless/run/boards.h"
#include "driftless/run/model.h"
#include "driftless/run/scheme.h"

namespace driftless::cli {
namespace {

struct SolveOptions {
  std::string board;
  std::string data;
  std::string model;        // empty: a bundled one
  std::string named_model;  // by its earlier flag
  std::string identifiers;
  int64_t steps = 0;  // 0: as many as the model was trained with
  std::string dtype = "f32";
  uint64_t seed = 0;
  bool is_native = false;
  std::string json;
  ColorFlag color;
};

task::Example read_line(const task::Task& task, std::string_view line) {
  return task::need(task, &task::Task::solve_line, "solve", "one-line boards; use --data")(line);
}

/// What is solved where nobody gives a board.
task::Example sample_of(const task::Task& task) {
  DRIFTLESS_REQUIRE(!task.sample.empty(), ErrorCode::InvalidArgument, "solve: task ", task.name,
                    " has no sample; expected a board or --data FILE");
  return read_line(task, task.sample);
}

std::vector<task::Example> read_input(const store::Checkpoint& checkpoint, const task::Task& task,
                                      const SolveOptions& options) {
  const bool is_arc = task.family == task::Family::Arc;
  if (options.data.empty())
    return {options.board.empty() ? sample_of(task) : read_line(task, options.board)};
  if (options.data == kStandardStream) {
    const auto lines = lines_of(standard_input());
    if (lines.size() == 1 && !is_arc) return {read_line(task, lines.front())};
  }
  return run::read_boards_for(checkpoint, options.model, {.path = options.data},
                              {.identifiers = options.identifiers, .variants = 1, .seed = 0})
      .examples;
}

/// What is on standard output and, where both are asked for, lines of JSON besides.
std::vector<std::unique_ptr<SolveView>> make_views(const Subject& subject,
                                                   const SolveOptions& options, std::string& json) {
  std::vector<std::unique_ptr<SolveView>> views;
  const bool prints_json = options.json == kStandardStream;
  if (!options.json.empty())
    views.push_back(make_json_view(subject, [&json, prints_json](const std::string& line) {
      if (prints_json)
        write_output(std::string(kStandardStream), line);
      else
        json += line;
    }));
  const Terminal terminal = find_terminal();
  if (!prints_json)
    views.push_back(make_text_view(subject, terminal, find_ink(options.color, terminal)));
  return views;
}

/// Whether a word is the name of a model rather than a board.
bool names_model(const std::string& word) {
  const std::filesystem::path path(word);
  std::error_code ignored;
  return path.has_parent_path() || std::filesystem::is_regular_file(path, ignored) ||
         path.extension() == ".safetensors";
}

/// Model and board may be left out, so their places do not say which is which.
SolveOptions settled(SolveOptions options) {
  const bool is_board_first = !options.model.empty() && !names_model(options.model);
  if (is_board_first && (options.board.empty() || names_model(options.board)))
    std::swap(options.model, options.board);
  if (!options.named_model.empty()) options.model.swap(options.named_model);
  if (options.board == kStandardStream) options.data = std::exchange(options.board, "");
  return options;
}

/// "board 2 of 5, 007bbfb7"; nothing for a board alone.
std::string title_of(const task::Example& example, size_t index, size_t count) {
  if (count == 1) return "";
  return "board " + std::to_string(index + 1) + " of " + std::to_string(count) +
         (example.name.empty() ? "" : ", " + example.name);
}

/// A float model runs natively as mxint4 in weights and activations.
std::unique_ptr<reason::Reasoner> make_reasoner_for(const store::ModelFile& model,
                                                    const SolveOptions& options) {
  const run::BackendOptions backend{
      .device = options.is_native ? "native" : "cpu", .dtype = options.dtype, .slots = 1};
  run::SchemeText scheme;
  if (options.is_native && !model.packed) scheme.weights = scheme.acts = "mxint4";
  const quant::QuantPlan plan = run::planned_scheme(scheme, model, backend, {}).plan;
  return run::make_reasoner(model, plan, backend);
}

void solve(SolveOptions options) {
  if (!options.data.empty() && !options.board.empty())
    reject("--data", "got a board besides, expected one of them");
  if (options.model.empty())
    options.model = (options.is_native ? default_packed_model() : default_model()).string();
  const store::ModelFile model = load_model(options.model);
  const store::Checkpoint& checkpoint = model.checkpoint;
  const task::Task& task = run::task_of(checkpoint);
  task::need(task, &task::Task::draw, "solve", "drawing; use eval with a data-set folder");
  const std::vector<task::Example> examples = read_input(checkpoint, task, options);
  run::require_fits(checkpoint, examples, options.data.empty() ? "solve" : options.data);
  const auto reasoner = make_reasoner_for(model, options);
  const std::vector<reason::Board> boards = reason::boards_of(examples, options.seed);
  const int64_t steps = options.steps > 0 ? options.steps : checkpoint.config.halt_max_steps;
  std::string json;
  for (size_t i = 0; i < boards.size(); ++i) {
    if (task.is_ambiguous != nullptr && task.is_ambiguous(examples[i]))
      std::fputs("driftless: warning: the board has several solutions\n", stderr);
    const auto views = make_views({.task = task,
                                   .example = examples[i],
                                   .max_steps = steps,
                                   .title = title_of(examples[i], i, examples.size())},
                                  options, json);
    reason::run(
        *reasoner, std::span(boards).subspan(i, 1),
        {.halting = reason::find_halting("halt"), .max_steps = steps},
        [&](int64_t, const reason::Answer& answer) {
          for (const auto& view : views) view->done(answer);
        },
        [&](int64_t, const reason::Answer& answer) {
          for (const auto& view : views) view->step(answer);
        });
  }
  if (options.json != kStandardStream) write_output(options.json, json);
}

}  // namespace

void add_solve_command(const Verb& verb) {
  auto options = std::make_shared<SolveOptions>();
  verb.add_input("model", options->model,
                 "checkpoint, packed model or PyTorch file (default: the bundled Sudoku model)");
  verb.add_input("board", options->board,
                 "one line of cells, '.' or '0' for a blank, or - for standard input (default: a "
                 "sample)");
  verb.add_input("--model", options->named_model, "earlier place of the model").group("");
  verb.accepts_old("--file",
                   verb.add_input("--data", options->data,
                                  "solve every board of a file, or - (ARC: every test input)"));
  verb.add_switch("--native", options->is_native,
                  "multiply integers; without a model the bundled packed model");
  verb.add_option("--steps", options->steps, "at most this many steps (default: the model's)")
      .positive();
  verb.add_option("--dtype", options->dtype, "f32 or bf16").shows_default();
  verb.add_option("--seed", options->seed, "of EqR's random states and noise").shows_default();
  verb.add_input("--identifiers", options->identifiers,
                 "ARC: JSON list that names the rows of the model's puzzle table (default: "
                 "identifiers.json beside the model)");
  verb.add_json(options->json, "print or write one JSON object per board");
  add_color_flag(verb, options->color);
  verb.example("driftless solve " + std::string(task::find_task("sudoku").sample));
  verb.runs([options] { solve(settled(*options)); });
}

}  // namespace driftless::cli
