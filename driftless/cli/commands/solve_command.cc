// SPDX-License-Identifier: Apache-2.0
// driftless solve: watch a model refine a board step by step.
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "driftless/base/error.h"
#include "driftless/base/files/text_file.h"
#include "driftless/cli/command.h"
#include "driftless/cli/flags/run_flags.h"
#include "driftless/cli/model_input.h"
#include "driftless/cli/terminal/compare_view.h"
#include "driftless/cli/terminal/solve_view.h"
#include "driftless/cli/terminal/streams.h"
#include "driftless/reason/boards.h"
#include "driftless/reason/run.h"
#include "driftless/run/backend.h"
#include "driftless/run/boards.h"
#include "driftless/run/compare/scheme_list.h"
#include "driftless/run/compare/side_by_side.h"
#include "driftless/run/model.h"
#include "driftless/run/scheme.h"

namespace driftless::cli {
namespace {

/// Of --check.
constexpr int kNotSolvedExit = 1;
constexpr double kMostDelay = 60;

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
  run::SchemeText scheme;
  std::string compare;  // empty: the scheme alone
  std::optional<double> delay_s;
  bool is_checked = false;
  std::string json;
  ColorFlag color;
};

/// A scheme that the board is solved under, as the user calls it.
struct Contender {
  std::string name;
  run::SchemeText scheme;
};

task::Example read_line(const task::Task& task, std::string_view line) {
  return task::need(task, &task::Task::solve_line, "solve", "one-line boards; use --data")(line);
}

/// What is solved where nobody gives a board.
task::Example sample_of(const task::Task& task) {
  DRIFTLESS_REQUIRE(!task.sample.empty(), ErrorCode::InvalidArgument, "solve: task ", task.name,
                    " has no sample; expected a board or --data FILE",
                    task.generator == nullptr
                        ? ""
                        : "; 'driftless data generate --task " + std::string(task.name) +
                              " --count 5 --seed 1 --out FILE' makes one");
  return read_line(task, task.sample);
}

std::vector<task::Example> read_input(const store::Checkpoint& checkpoint, const task::Task& task,
                                      const SolveOptions& options) {
  if (options.data.empty())
    return {options.board.empty() ? sample_of(task) : read_line(task, options.board)};
  if (options.data == kStandardStream) {
    const auto lines = lines_of(standard_input());
    if (lines.size() == 1 && !task.is_arc()) return {read_line(task, lines.front())};
  }
  return run::read_boards_for(checkpoint, options.model, {.path = options.data},
                              {.identifiers = options.identifiers, .variants = 1, .seed = 0})
      .examples;
}

/// All that looks at a board: the screen and, where asked for, lines of JSON.
class Audience {
 public:
  Audience(const Subject& subject, const std::vector<Contender>& contenders,
           const SolveOptions& options, std::string& json) {
    const bool prints_json = options.json == kStandardStream;
    std::vector<std::string> names;
    for (const Contender& contender : contenders) {
      names.push_back(contender.name);
      Subject of_scheme = subject;
      of_scheme.scheme = contender.name;
      if (!options.json.empty())
        records_.push_back(make_json_view(of_scheme, [&json, prints_json](const std::string& line) {
          if (prints_json)
            write_output(std::string(kStandardStream), line);
          else
            json += line;
        }));
    }
    if (prints_json) return;
    const Terminal terminal = find_terminal();
    const Ink ink = find_ink(options.color, terminal);
    if (options.compare.empty())
      single_ = make_text_view(subject, terminal, ink);
    else
      compared_ = make_compare_view(subject, names, terminal, ink);
  }

  void step(size_t side, const reason::Answer& answer) const {
    if (!records_.empty()) records_[side]->step(answer);
    if (single_) single_->step(answer);
    if (compared_) compared_->step(side, answer);
  }

  void done(size_t side, const reason::Answer& answer) const {
    if (!records_.empty()) records_[side]->done(answer);
    if (single_) single_->done(answer);
    if (compared_) compared_->done(side, answer);
  }

 private:
  std::vector<std::unique_ptr<SolveView>> records_;  // one a scheme, or none
  std::unique_ptr<SolveView> single_;
  std::unique_ptr<CompareView> compared_;
};

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

/// What the board is solved under. A float model runs natively as mxint4 unless told otherwise.
std::vector<Contender> contenders_of(const SolveOptions& options, const store::ModelFile& model) {
  std::vector<Contender> contenders;
  if (options.compare.empty()) {
    run::SchemeText scheme = options.scheme;
    if (options.is_native && !model.packed && run::is_float(scheme))
      scheme = run::with_quantizers(std::move(scheme), "mxint4");
    const std::string name = run::is_float(scheme) ? ""
                             : scheme.plan.empty() ? scheme.weights + ":" + scheme.acts
                                                   : scheme.plan;
    contenders.push_back({name, std::move(scheme)});
    return contenders;
  }
  for (const std::string& name : run::split_schemes(options.compare))
    contenders.push_back({name, run::with_quantizers(options.scheme, name)});
  return contenders;
}

/// One reasoner with a slot for each contender. Float ones of a native run are not native.
std::unique_ptr<reason::Reasoner> make_reasoner_for(const store::ModelFile& model,
                                                    const std::vector<Contender>& contenders,
                                                    const SolveOptions& options,
                                                    std::span<const task::Example> examples) {
  std::vector<std::unique_ptr<reason::Reasoner>> parts;
  for (const Contender& contender : contenders) {
    const bool is_native = options.is_native && (model.packed || !run::is_float(contender.scheme));
    const run::BackendOptions backend{
        .device = is_native ? "native" : "cpu", .dtype = options.dtype, .slots = 1};
    const quant::QuantPlan plan =
        run::planned_scheme(contender.scheme, model, backend, examples).plan;
    parts.push_back(run::make_reasoner(model, plan, backend));
  }
  return run::side_by_side(std::move(parts));
}

/// Whether a native run without a model takes the packed one, which has a scheme already.
bool takes_packed(const SolveOptions& options) {
  return options.is_native && options.compare.empty() && run::is_float(options.scheme);
}

/// What --check needs to know.
void require_answers(const std::vector<task::Example>& examples) {
  for (size_t i = 0; i < examples.size(); ++i)
    DRIFTLESS_REQUIRE(has_label(examples[i]), ErrorCode::InvalidArgument, "--check: board ", i + 1,
                      " of ", examples.size(),
                      " has no solution to compare with; expected a file with answers");
}

/// Solves a board under all schemes; returns whether all of them do.
bool solve_board(reason::Reasoner& reasoner, const reason::Board& board, const Subject& subject,
                 const Audience& audience) {
  const std::vector<reason::Board> copies(static_cast<size_t>(reasoner.slot_count()), board);
  bool is_right = true;
  reason::run(
      reasoner, copies, {.halting = reason::find_halting("halt"), .max_steps = subject.max_steps},
      [&](int64_t side, const reason::Answer& answer) {
        is_right = is_right && is_solved(subject, answer);
        audience.done(static_cast<size_t>(side), answer);
      },
      [&](int64_t side, const reason::Answer& answer) {
        audience.step(static_cast<size_t>(side), answer);
      });
  return is_right;
}

std::optional<std::chrono::milliseconds> delay_of(const SolveOptions& options) {
  if (!options.delay_s) return {};
  return std::chrono::milliseconds(std::llround(1000 * *options.delay_s));
}

void solve(SolveOptions options) {
  if (!options.data.empty() && !options.board.empty())
    reject("--data", "got a board besides, expected one of them");
  if (options.model.empty())
    options.model = (takes_packed(options) ? default_packed_model() : default_model()).string();
  const store::ModelFile model = load_model(options.model);
  const store::Checkpoint& checkpoint = model.checkpoint;
  const task::Task& task = run::task_of(checkpoint);
  task::need(task, &task::Task::draw, "solve", "drawing; use eval with a data-set folder");
  const std::vector<task::Example> examples = read_input(checkpoint, task, options);
  run::require_fits(checkpoint, examples, options.data.empty() ? "solve" : options.data);
  if (options.is_checked) require_answers(examples);
  const std::vector<Contender> contenders = contenders_of(options, model);
  const auto reasoner = make_reasoner_for(model, contenders, options, examples);
  const std::vector<reason::Board> boards = reason::boards_of(examples, options.seed);
  std::string json;
  bool are_right = true;
  for (size_t i = 0; i < boards.size(); ++i) {
    if (task.is_ambiguous != nullptr && task.is_ambiguous(examples[i]))
      std::fputs("driftless: warning: the board has several solutions\n", stderr);
    const Subject subject{
        .task = task,
        .example = examples[i],
        .max_steps = options.steps > 0 ? options.steps : checkpoint.config.halt_max_steps,
        .title = title_of(examples[i], i, examples.size()),
        .delay = delay_of(options)};
    are_right =
        solve_board(*reasoner, boards[i], subject, Audience(subject, contenders, options, json)) &&
        are_right;
  }
  if (options.json != kStandardStream) write_output(options.json, json);
  if (options.is_checked && !are_right) end_with(kNotSolvedExit);
}

void add_watching_flags(const Verb& verb, SolveOptions& options) {
  const Flag compare = verb.add_option(
      "--compare", options.compare,
      "solve the board under several schemes side by side: quantizers or WEIGHTS:ACTIVATIONS "
      "between commas, such as none,int4/tensor,mxint4");
  for (const char* flag : {"--weights", "--acts", "--plan"}) compare.excludes(verb.find(flag));
  verb.add_option("--delay", options.delay_s, "seconds that a step stays on the screen")
      .between(0, kMostDelay);
  verb.add_switch("--check", options.is_checked,
                  "exit with 1 where a board is not solved, under any scheme");
  verb.add_json(options.json, "print or write one JSON object per board (and scheme)");
  add_color_flag(verb, options.color);
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
                  "multiply integers; without a model the bundled packed model, or, with a scheme, "
                  "the bundled float model under that");
  verb.add_option("--steps", options->steps, "at most this many steps (default: the model's)")
      .positive();
  add_dtype_flag(verb, options->dtype);
  verb.add_option("--seed", options->seed, "of EqR's random states and noise").shows_default();
  verb.add_input("--identifiers", options->identifiers,
                 "ARC: JSON list that names the rows of the model's puzzle table (default: "
                 "identifiers.json beside the model)");
  add_scheme_flags(verb, options->scheme);
  add_watching_flags(verb, *options);
  verb.example("driftless solve --compare none,int4/tensor,mxint4 --delay 0.2");
  verb.runs([options] { solve(settled(*options)); });
}

}  // namespace driftless::cli
