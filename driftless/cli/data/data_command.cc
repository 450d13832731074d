// SPDX-License-Identifier: Apache-2.0
// driftless data: generate, augment, check, convert and describe boards.
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "driftless/cli/command.h"
#include "driftless/cli/data/data_augment.h"
#include "driftless/cli/data/data_generate.h"
#include "driftless/cli/terminal/streams.h"
#include "driftless/run/boards.h"
#include "driftless/task/arc/json.h"
#include "driftless/task/arc/show.h"
#include "driftless/task/summary.h"
#include "driftless/task/table.h"

namespace driftless::cli {
namespace {

namespace arc = task::arc;

struct DataOptions {
  std::string task;  // "": told by the file
  run::BoardFile input;
  std::string output;
};

/// The task that the user names, else the one that the file looks like.
const task::Task& task_of(const DataOptions& options) {
  return options.task.empty() ? run::guess_task(options.input) : task::find_task(options.task);
}

void convert(const DataOptions& options) {
  const task::Task& task = task_of(options);
  std::string text;
  int64_t count = 0;
  if (task.is_arc()) {
    const auto puzzles = run::read_arc_puzzles(options.input);
    count = std::ssize(puzzles);
    text = arc::to_json(puzzles);
  } else {
    const auto write = task::need(task, &task::Task::write, "data convert", "files of its own");
    const auto examples = run::read_boards(task, options.input);
    count = std::ssize(examples);
    text = write(examples);
  }
  write_output(options.output, text);
  std::fprintf(stream_beside(options.output), "%s: %lld %s %s\n", options.output.c_str(),
               static_cast<long long>(count), std::string(task.name).c_str(),
               task.is_arc() ? "tasks" : "boards");
}

std::string check_text(const task::Task& task, const DataOptions& options) {
  if (task.is_arc()) {
    const auto puzzles = run::read_arc_puzzles(options.input);
    return std::to_string(puzzles.size()) + " tasks, every grid is sound\n" + arc::audit(puzzles);
  }
  const auto audit = task::need(task, &task::Task::audit, "data check", "rules to check");
  const auto examples = run::read_boards(task, options.input);
  return std::to_string(examples.size()) + " boards, every answer follows the rules\n" +
         audit(examples, options.input.path);
}

void check(const DataOptions& options) {
  const std::string text = check_text(task_of(options), options);
  std::printf("%s: %s", options.input.path.c_str(), text.c_str());
}

std::string stats_text(const task::Task& task, const DataOptions& options) {
  if (task.is_arc()) {
    const auto puzzles = run::read_arc_puzzles(options.input);
    return task::counted("tasks", std::ssize(puzzles)) + arc::stats(puzzles);
  }
  const auto examples = run::read_boards(task, options.input);
  return task::counted("boards", std::ssize(examples)) +
         task::counted("cells", std::ssize(examples.front().input)) +
         (task.stats == nullptr ? "" : task.stats(examples));
}

void print_stats(const DataOptions& options) {
  const task::Task& task = task_of(options);
  std::printf("%-12s %s\n%s", "task", std::string(task.name).c_str(),
              stats_text(task, options).c_str());
}

void add_input(const Verb& verb, DataOptions& options) {
  verb.add_input("IN", options.input.path,
                 "file of boards, data-set folder, or - for standard input")
      .required();
  verb.add_option("--split", options.input.split, "split of a data-set folder").shows_default();
  verb.add_option("--task", options.task,
                  join(task::names_of_tasks(), ", ") + " (default: what IN looks like)");
}

}  // namespace

void add_data_command(const Verb& verb) {
  auto options = std::make_shared<DataOptions>();
  verb.requires_verb();
  verb.example("driftless data check models/demo-sudoku.csv");
  add_generate(verb.add_verb("generate", "boards of our own"));
  add_augment(verb.add_verb("augment", "ARC tasks and their variants, to train on"));

  const Verb converting =
      verb.add_verb("convert", "boards of any kind to one CSV file (ARC: one JSON file)");
  add_input(converting, *options);
  converting.accepts_old(
      "--output",
      converting.add_output("--out", options->output, "file to write, or -").required());
  converting.example("driftless data convert models/demo-sudoku.csv --out boards.csv");
  converting.runs([options] { convert(*options); });

  const Verb checking = verb.add_verb("check", "whether boards and answers are sound");
  add_input(checking, *options);
  checking.example("driftless data check models/demo-sudoku.csv");
  checking.runs([options] { check(*options); });

  const Verb describing = verb.add_verb("stats", "what a file of boards holds");
  add_input(describing, *options);
  describing.example("driftless data stats models/demo-sudoku.csv");
  describing.runs([options] { print_stats(*options); });
}

}  // namespace driftless::cli
