// SPDX-License-Identifier: Apache-2.0
// driftless data: generate, augment, check, convert and describe boards.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "driftless/base/error.h"
#include "driftless/cli/command.h"
#include "driftless/cli/data/data_augment.h"
#include "driftless/cli/data/data_report.h"
#include "driftless/cli/terminal/interrupt.h"
#include "driftless/cli/terminal/progress.h"
#include "driftless/cli/terminal/streams.h"
#include "driftless/run/boards.h"
#include "driftless/task/arc/json.h"
#include "driftless/task/maze/csv.h"
#include "driftless/task/maze/generator.h"
#include "driftless/task/sudoku/csv.h"
#include "driftless/task/sudoku/generator.h"
#include "driftless/task/sudoku/solver.h"

namespace driftless::cli {
namespace {

using task::Example;
namespace maze = task::maze;
namespace sudoku = task::sudoku;

struct DataOptions {
  std::string task;  // "": told by the file
  run::BoardSource input;
  std::string output;
  int64_t count = 0;
  uint64_t seed = 0;
  int64_t tries = 100'000;
  sudoku::GeneratorOptions sudoku;
  maze::GeneratorOptions maze;
  bool unique_path = false;
};

[[noreturn]] void give_up(const DataOptions& options, size_t done) {
  fail(ErrorCode::InvalidArgument, "data generate: board ", done + 1, " of ", options.count,
       ": none of ", options.tries, " tries has what is asked (",
       options.task == "sudoku" ? "--min-rating, --max-rating" : "--min-path, --max-path",
       "); ask for less, or allow more with --tries");
}

/// The boards that tries give, with a progress line.
template <class Puzzle, class Try>
std::vector<Puzzle> make_boards(const DataOptions& options, Try attempt) {
  const InterruptGuard guard;
  Progress progress("generating", options.count);
  std::vector<Puzzle> boards;
  for (int64_t tries = 0; std::ssize(boards) < options.count; ++tries) {
    if (was_interrupted())
      throw Interrupted("interrupted after " + std::to_string(boards.size()) + " of " +
                        std::to_string(options.count) + " boards; nothing was written");
    if (tries == options.tries) give_up(options, boards.size());
    if (auto board = attempt()) {
      boards.push_back(std::move(*board));
      tries = -1;
    }
    progress.show(std::ssize(boards), options.task + " boards");
  }
  return boards;
}

void generate(DataOptions& options) {
  if (options.task.empty()) options.task = "sudoku";
  Rng rng(options.seed);
  std::string text;
  if (options.task == "sudoku") {
    text = sudoku::to_csv(make_boards<sudoku::Puzzle>(
        options, [&] { return sudoku::try_generate(options.sudoku, rng); }));
  } else if (options.task == "maze") {
    options.maze.kind = options.unique_path ? maze::Kind::Perfect : maze::Kind::Scattered;
    text = maze::to_csv(
        make_boards<maze::Puzzle>(options, [&] { return maze::try_generate(options.maze, rng); }));
  } else {
    fail(ErrorCode::Unsupported, "data generate: no generator for this task; got '", options.task,
         "', expected sudoku or maze");
  }
  write_output(options.output, text);
  std::fprintf(stream_beside(options.output), "%s: %lld %s boards, seed %llu\n",
               options.output.c_str(), static_cast<long long>(options.count), options.task.c_str(),
               static_cast<unsigned long long>(options.seed));
}

/// The task that the user names, else the one that the file looks like.
const task::Task& task_of(const DataOptions& options) {
  return options.task.empty() ? run::guess_task(options.input) : task::find_task(options.task);
}

std::string sudoku_csv(const std::vector<Example>& examples) {
  std::vector<sudoku::Puzzle> puzzles;
  puzzles.reserve(examples.size());
  for (const Example& example : examples) {
    const auto question = sudoku::board_from_tokens(example.input);
    puzzles.push_back({.source = example.name,
                       .question = question,
                       .answer = sudoku::board_from_tokens(example.label),
                       .rating = sudoku::solve(question).guesses});
  }
  return sudoku::to_csv(puzzles);
}

std::string maze_csv(const std::vector<Example>& examples) {
  std::vector<maze::Puzzle> puzzles;
  puzzles.reserve(examples.size());
  for (const Example& example : examples) {
    const auto answer = maze::board_from_tokens(example.label);
    const auto inner = std::count(answer.cells.begin(), answer.cells.end(), maze::kPath);
    puzzles.push_back({.question = maze::board_from_tokens(example.input),
                       .answer = answer,
                       .path_cells = inner + 2});
  }
  return maze::to_csv(puzzles);
}

bool is_arc(const task::Task& task) { return task.name == "arc" || task.name == "mini-arc"; }

void convert(const DataOptions& options) {
  const task::Task& task = task_of(options);
  std::string text;
  int64_t count = 0;
  if (is_arc(task)) {
    const auto puzzles = run::read_arc_puzzles(options.input);
    count = std::ssize(puzzles);
    text = task::arc::to_json(puzzles);
  } else {
    const auto examples = run::read_boards(task, options.input);
    count = std::ssize(examples);
    text = task.name == "sudoku" ? sudoku_csv(examples) : maze_csv(examples);
  }
  write_output(options.output, text);
  std::fprintf(stream_beside(options.output), "%s: %lld %s %s\n", options.output.c_str(),
               static_cast<long long>(count), std::string(task.name).c_str(),
               is_arc(task) ? "tasks" : "boards");
}

void check(const DataOptions& options) {
  const task::Task& task = task_of(options);
  const std::string text =
      is_arc(task) ? check_text(run::read_arc_puzzles(options.input))
                   : check_text(task, run::read_boards(task, options.input), options.input.path);
  std::printf("%s: %s", options.input.path.c_str(), text.c_str());
}

void print_stats(const DataOptions& options) {
  const task::Task& task = task_of(options);
  const std::string text = is_arc(task) ? stats_text(run::read_arc_puzzles(options.input))
                                        : stats_text(task, run::read_boards(task, options.input));
  std::printf("%-12s %s\n%s", "task", std::string(task.name).c_str(), text.c_str());
}

void add_out(const Verb& verb, std::string& output, const char* help) {
  verb.accepts_old("--output", verb.add_output("--out", output, help).required());
}

void add_input(const Verb& verb, DataOptions& options) {
  verb.add_input("IN", options.input.path,
                 "file of boards, data-set folder, or - for standard input")
      .required();
  verb.add_option("--split", options.input.split, "split of a data-set folder").shows_default();
  verb.add_option("--task", options.task, "sudoku, maze or arc (default: what IN looks like)");
}

/// A flag that means something for one task only.
struct TaskFlag {
  Flag flag;
  const char* task;
};

void require_task(const std::vector<TaskFlag>& flags, const std::string& task) {
  for (const TaskFlag& row : flags)
    if (row.flag.is_given() && task != row.task)
      reject(row.flag.name(), std::string("is for --task ") + row.task);
}

void add_generate(const Verb& verb, const std::shared_ptr<DataOptions>& options) {
  verb.add_option("--task", options->task, "sudoku or maze (default sudoku)");
  verb.add_option("--count", options->count, "boards").required().positive();
  verb.add_option("--seed", options->seed, "seed of the random choices").required();
  add_out(verb, options->output, "CSV file to write, or -");
  verb.add_option("--tries", options->tries, "give up when so many boards in a row do not fit")
      .positive()
      .shows_default();
  auto& maze = options->maze;
  const std::vector<TaskFlag> flags = {
      {verb.add_option("--min-rating", options->sudoku.min_rating, "sudoku: least guesses"),
       "sudoku"},
      {verb.add_option("--max-rating", options->sudoku.max_rating, "sudoku: most guesses"),
       "sudoku"},
      {verb.add_option("--side", maze.side, "maze: cells of a side (default 30)"), "maze"},
      {verb.add_option("--min-path", maze.min_path_cells,
                       "maze: least cells of the path (default 110)"),
       "maze"},
      {verb.add_option("--max-path", maze.max_path_cells, "maze: most cells of the path"), "maze"},
      {verb.add_switch("--unique-path", options->unique_path,
                       "maze: a tree of corridors, one path"),
       "maze"}};
  verb.example("driftless data generate --count 100 --seed 1 --min-rating 3 --out b.csv");
  verb.runs([options, flags] {
    require_task(flags, options->task.empty() ? "sudoku" : options->task);
    generate(*options);
  });
}

}  // namespace

void add_data_command(const Verb& verb) {
  auto options = std::make_shared<DataOptions>();
  verb.requires_verb();
  verb.example("driftless data check boards.csv");
  add_generate(verb.add_verb("generate", "boards of our own"), options);
  add_augment(verb.add_verb("augment", "ARC tasks and their variants, to train on"));

  const Verb converting =
      verb.add_verb("convert", "boards of any kind to one CSV file (ARC: one JSON file)");
  add_input(converting, *options);
  add_out(converting, options->output, "file to write, or -");
  converting.example("driftless data convert sudoku-folder --split test --out boards.csv");
  converting.runs([options] { convert(*options); });

  const Verb checking = verb.add_verb("check", "whether boards and answers are sound");
  add_input(checking, *options);
  checking.example("driftless data check boards.csv");
  checking.runs([options] { check(*options); });

  const Verb describing = verb.add_verb("stats", "what a file of boards holds");
  add_input(describing, *options);
  describing.example("driftless data stats mazes.csv --task maze");
  describing.runs([options] { print_stats(*options); });
}

}  // namespace driftless::cli
