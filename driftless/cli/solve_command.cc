// SPDX-License-Identifier: Apache-2.0
// driftless solve: watch a model refine a board step by step.
#include <cstdio>
#include <memory>
#include <string>

#include "driftless/base/error.h"
#include "driftless/cli/backend.h"
#include "driftless/cli/board_files.h"
#include "driftless/cli/board_text.h"
#include "driftless/cli/command.h"
#include "driftless/cli/model_input.h"
#include "driftless/cli/scheme_flags.h"
#include "driftless/cli/solve_view.h"
#include "driftless/reason/run.h"
#include "driftless/study/lockstep.h"

namespace driftless::cli {
namespace {

struct SolveOptions {
  std::string board;
  std::string file;
  std::string model;  // empty: a bundled one
  std::string identifiers;
  int64_t steps = 0;  // 0: as many as the model was trained with
  std::string dtype = "f32";
  uint64_t seed = 0;
  bool is_native = false;
  bool as_json = false;
  bool no_color = false;
};

/// Solved where nobody gives a board; from the project's own generator (models/demo-sudoku.csv).
constexpr const char* kSampleBoard =
    "8...7.....9...5..3.......16..57....9.3......8..614.5..1...87....2.5...4....2...9.";

std::vector<task::Example> read_input(const store::Checkpoint& checkpoint, const task::Task& task,
                                      const SolveOptions& options) {
  if (options.file.empty())
    return {example_from_text(task, options.board.empty() ? kSampleBoard : options.board)};
  const BoardSource source{.path = options.file};
  if (task.name != "arc") return read_boards(task, source);
  return read_arc_boards(checkpoint, options.model, source,
                         {.identifiers = options.identifiers, .variants = 1, .seed = 0})
      .rows;
}

std::unique_ptr<SolveView> make_view(const Subject& subject, const SolveOptions& options) {
  if (options.as_json) return make_json_view(subject);
  return make_text_view(subject, find_terminal(), options.no_color ? Ink::Plain : wanted_ink());
}

/// "board 2 of 5, 007bbfb7"; nothing for a board alone.
std::string title_of(const task::Example& example, size_t index, size_t count) {
  if (count == 1) return "";
  return "board " + std::to_string(index + 1) + " of " + std::to_string(count) +
         (example.name.empty() ? "" : ", " + example.name);
}

/// A float model runs natively as mxint4 in weights and activations.
std::unique_ptr<reason::Reasoner> make_reasoner_for(const ModelFile& model,
                                                    const SolveOptions& options) {
  const BackendOptions backend{
      .device = options.is_native ? "native" : "cpu", .dtype = options.dtype, .slots = 1};
  if (model.packed) return make_reasoner(*model.packed, backend);
  if (!options.is_native) return make_reasoner(model.checkpoint, {}, backend);
  SchemeFlags scheme;
  scheme.weights = scheme.acts = "mxint4";
  return make_reasoner(model.checkpoint, planned_scheme(scheme, model, backend, {}).plan, backend);
}

void solve(SolveOptions options) {
  if (options.model.empty())
    options.model = (options.is_native ? default_packed_model() : default_model()).string();
  const ModelFile model = load_model(options.model);
  const store::Checkpoint& checkpoint = model.checkpoint;
  DRIFTLESS_REQUIRE(checkpoint.config.task != model::Task::Other, ErrorCode::Unsupported,
                    options.model,
                    ": the model's task has no boards that could be shown; expected "
                    "'driftless eval' with a data-set folder");
  const task::Task& task = task_of(checkpoint);
  const std::vector<task::Example> examples = read_input(checkpoint, task, options);
  require_fits(checkpoint, examples, options.file.empty() ? "solve" : options.file);
  const auto reasoner = make_reasoner_for(model, options);
  const std::vector<reason::Board> boards = study::boards_of(examples, options.seed);
  const int64_t steps = options.steps > 0 ? options.steps : checkpoint.config.halt_max_steps;
  for (size_t i = 0; i < boards.size(); ++i) {
    if (is_ambiguous(task, examples[i]))
      std::fputs("driftless: warning: the board has several solutions\n", stderr);
    const auto view = make_view({.task = task,
                                 .example = examples[i],
                                 .max_steps = steps,
                                 .title = title_of(examples[i], i, examples.size())},
                                options);
    reason::run(
        *reasoner, std::span(boards).subspan(i, 1),
        {.halting = reason::find_halting("halt"), .max_steps = steps},
        [&](int64_t, const reason::Answer& answer) { view->done(answer); },
        [&](int64_t, const reason::Answer& answer) { view->step(answer); });
  }
}

}  // namespace

void add_solve_command(Verb verb) {
  auto options = std::make_shared<SolveOptions>();
  const Flag board = verb.add_option(
      "board", options->board, "one line of cells, '.' or '0' for a blank (default: a sample)");
  verb.add_input("--file", options->file, "solve every board of a file (ARC: every test input)")
      .excludes(board);
  verb.add_input("--model", options->model,
                 "checkpoint, packed model or PyTorch file (default: the bundled Sudoku model)");
  verb.add_switch("--native", options->is_native,
                  "multiply integers; without --model the bundled packed model");
  verb.add_option("--steps", options->steps, "at most this many steps (default: the model's)")
      .positive();
  verb.add_option("--dtype", options->dtype, "f32 or bf16").shows_default();
  verb.add_option("--seed", options->seed, "of EqR's random states and noise").shows_default();
  verb.add_input("--identifiers", options->identifiers,
                 "ARC: JSON list that names the rows of the model's puzzle table (default: "
                 "identifiers.json beside the model)");
  verb.add_switch("--json", options->as_json, "print one JSON object per board");
  verb.add_switch("--no-color", options->no_color,
                  "no colors (nor with NO_COLOR set); a pipe gets none anyway");
  verb.example(std::string("driftless solve ") + kSampleBoard);
  verb.runs([options] { solve(*options); });
}

}  // namespace driftless::cli
