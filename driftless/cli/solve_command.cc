// SPDX-License-Identifier: Apache-2.0
// driftless solve: watch a model refine a board step by step.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>

#include <nlohmann/json.hpp>
#include <unistd.h>

#include "driftless/base/error.h"
#include "driftless/cli/board_text.h"
#include "driftless/cli/command.h"
#include "driftless/cli/model_input.h"
#include "driftless/engine/cpu_reasoner.h"
#include "driftless/reason/run.h"

namespace driftless::cli {
namespace {

struct SolveOptions {
  std::string board;
  std::string file;
  std::string model = default_model().string();
  int64_t steps = 0;  // 0: as many as the model was trained with
  std::string dtype = "f32";
  uint64_t seed = 0;
  bool as_json = false;
  bool no_color = false;
};

/// Solved where nobody gives a board; from the project's own generator (models/demo-sudoku.csv).
constexpr const char* kSampleBoard =
    "23...59....49....8.1.....461...9..6...7.....98...36.17...7..65.5...13...........2";

/// Shows one board while the model works on it.
class View {
 public:
  virtual ~View() = default;
  virtual void step(const reason::Answer& answer) = 0;
  virtual void done(const reason::Answer& answer, task::Outcome outcome) = 0;
};

std::string verdict(const task::Example& example, const reason::Answer& answer,
                    task::Outcome outcome) {
  const std::string steps = std::to_string(answer.steps) + (answer.steps == 1 ? " step" : " steps");
  if (outcome != task::Outcome::Wrong) return "solved in " + steps;
  const task::Share cells = task::matching_cells(example.label, answer.tokens);
  return "not solved after " + steps + ": " + std::to_string(cells.n - cells.hits) + " of " +
         std::to_string(cells.n) + " cells differ from the solution";
}

/// Redraws the board in place on a terminal; elsewhere a line per step and the board at the end.
class TextView : public View {
 public:
  TextView(const task::Task& task, const task::Example& example, Ink ink)
      : task_(task), example_(example), ink_(ink), before_(example.input) {
    if (ink_ == Ink::Colored) std::printf("\n%s\n", picture(before_).c_str());
  }

  void step(const reason::Answer& answer) override {
    if (ink_ == Ink::Colored) {
      const std::string drawing = picture(answer.tokens);
      std::printf("\x1b[%lldA%sstep %-3lld halt logit %+.2f\n",
                  static_cast<long long>(std::count(drawing.begin(), drawing.end(), '\n')) + 1,
                  drawing.c_str(), static_cast<long long>(answer.steps),
                  static_cast<double>(answer.halt_logit));
      std::fflush(stdout);
    } else {
      std::printf("step %-3lld %s  halt logit %+.2f\n", static_cast<long long>(answer.steps),
                  task::to_text(task_, answer.tokens).c_str(),
                  static_cast<double>(answer.halt_logit));
    }
    before_ = answer.tokens;
  }

  void done(const reason::Answer& answer, task::Outcome outcome) override {
    if (ink_ == Ink::Plain) std::printf("\n%s", picture(answer.tokens).c_str());
    std::printf("%s\n", verdict(example_, answer, outcome).c_str());
  }

 private:
  std::string picture(std::span<const uint8_t> now) const {
    return draw(task_, {.question = example_.input, .before = before_, .now = now}, ink_);
  }

  const task::Task& task_;
  const task::Example& example_;
  Ink ink_;
  std::vector<uint8_t> before_;
};

/// One JSON object per board.
class JsonView : public View {
 public:
  JsonView(const task::Task& task, const task::Example& example)
      : task_(task), record_{{"question", task::to_text(task, example.input)}} {}

  void step(const reason::Answer& answer) override {
    record_["steps"].push_back({{"step", answer.steps},
                                {"prediction", task::to_text(task_, answer.tokens)},
                                {"halt_logit", answer.halt_logit}});
  }

  void done(const reason::Answer& answer, task::Outcome outcome) override {
    record_["prediction"] = task::to_text(task_, answer.tokens);
    record_["solved"] = outcome != task::Outcome::Wrong;
    std::cout << record_.dump() << '\n';
  }

 private:
  const task::Task& task_;
  nlohmann::ordered_json record_;
};

std::vector<task::Example> read_boards(const task::Task& task, const SolveOptions& options) {
  if (!options.file.empty()) return task::read_examples(task, options.file);
  return {example_from_text(task, options.board.empty() ? kSampleBoard : options.board)};
}

std::unique_ptr<View> make_view(const task::Task& task, const task::Example& example,
                                const SolveOptions& options) {
  if (options.as_json) return std::make_unique<JsonView>(task, example);
  const bool has_colors =
      !options.no_color && std::getenv("NO_COLOR") == nullptr && isatty(STDOUT_FILENO) == 1;
  return std::make_unique<TextView>(task, example, has_colors ? Ink::Colored : Ink::Plain);
}

void solve(const SolveOptions& options) {
  const store::Checkpoint checkpoint = store::load_checkpoint(options.model);
  const task::Task& task = task_of(checkpoint);
  const std::vector<task::Example> examples = read_boards(task, options);
  require_fits(checkpoint, examples, options.file.empty() ? "solve" : options.file);
  const auto reasoner = engine::make_cpu_reasoner(
      checkpoint,
      {.slots = 1, .threads = default_threads(), .dtype = engine::parse_dtype(options.dtype)});
  const std::vector<reason::Board> boards = boards_of(examples, options.seed);
  for (size_t i = 0; i < boards.size(); ++i) {
    const task::Example& example = examples[i];
    if (is_ambiguous(task, example))
      std::fputs("driftless: warning: the board has several solutions\n", stderr);
    const auto view = make_view(task, example, options);
    reason::run(
        *reasoner, std::span(boards).subspan(i, 1),
        {.halting = reason::find_halting("halt"),
         .max_steps = options.steps > 0 ? options.steps : checkpoint.config.halt_max_steps},
        [&](int64_t, const reason::Answer& answer) {
          view->done(answer, task.check(example, answer.tokens));
        },
        [&](int64_t, const reason::Answer& answer) { view->step(answer); });
  }
}

}  // namespace

void add_solve_command(CLI::App& verb) {
  auto options = std::make_shared<SolveOptions>();
  auto* board = verb.add_option("board", options->board,
                                "one line of cells, '.' or '0' for a blank (default: a sample)");
  verb.add_option("--file", options->file, "solve every board of a file")->excludes(board);
  verb.add_option("--model", options->model, "checkpoint (default: the bundled Sudoku model)");
  verb.add_option("--steps", options->steps, "at most this many steps (default: the model's)")
      ->check(CLI::PositiveNumber);
  verb.add_option("--dtype", options->dtype, "f32 or bf16")->capture_default_str();
  verb.add_option("--seed", options->seed, "of EqR's random states and noise")
      ->capture_default_str();
  verb.add_flag("--json", options->as_json, "print one JSON object per board");
  verb.add_flag("--no-color", options->no_color, "print lines instead of a live picture");
  show_example(verb, std::string("driftless solve ") + kSampleBoard);
  verb.callback([options] { solve(*options); });
}

}  // namespace driftless::cli
