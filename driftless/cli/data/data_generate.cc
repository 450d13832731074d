// SPDX-License-Identifier: Apache-2.0
#include "driftless/cli/data/data_generate.h"

#include <algorithm>
#include <cstdio>
#include <deque>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "driftless/base/error.h"
#include "driftless/cli/terminal/interrupt.h"
#include "driftless/cli/terminal/progress.h"
#include "driftless/cli/terminal/streams.h"
#include "driftless/task/table.h"

namespace driftless::cli {
namespace {

using task::GeneratorOption;

constexpr const char* kSide = "side";

/// A flag for an option of one generator or of several.
struct AskedOption {
  std::string name;  // without the dashes
  std::string help;
  GeneratorOption::Kind kind;
  std::vector<std::string_view> tasks;
  std::optional<int64_t> number = std::nullopt;
  bool is_on = false;

  [[nodiscard]] bool is_given() const { return number.has_value() || is_on; }
  [[nodiscard]] int64_t value_or(int64_t usual) const { return is_on ? 1 : number.value_or(usual); }
};

struct GenerateOptions {
  std::string task = "sudoku";
  std::string output;
  int64_t count = 0;
  uint64_t seed = 0;
  int64_t tries = 100'000;
  std::deque<AskedOption> asked;  // flags point into it

  [[nodiscard]] const AskedOption& option(std::string_view name) const {
    return *std::find_if(asked.begin(), asked.end(),
                         [&](const AskedOption& option) { return option.name == name; });
  }
};

/// The board's size as an option like the others.
std::vector<GeneratorOption> options_of(const task::Generator& generator) {
  std::vector<GeneratorOption> options(generator.options.begin(), generator.options.end());
  if (generator.usual_side > 0)
    options.insert(options.begin(), {kSide, "cells of a side", generator.usual_side});
  return options;
}

std::string help_of(const task::Task& task, const GeneratorOption& option) {
  const bool has_usual = option.usual > 0 && option.usual != std::numeric_limits<int64_t>::max();
  return std::string(task.name) + ": " + std::string(option.help) +
         (has_usual ? " (default " + std::to_string(option.usual) + ")" : "");
}

std::deque<AskedOption> all_options() {
  std::deque<AskedOption> all;
  for (const task::Task& task : task::tasks()) {
    if (task.generator == nullptr) continue;
    for (const GeneratorOption& option : options_of(*task.generator)) {
      const auto known = std::find_if(all.begin(), all.end(), [&](const AskedOption& other) {
        return other.name == option.name;
      });
      if (known == all.end()) {
        all.push_back({.name = std::string(option.name),
                       .help = help_of(task, option),
                       .kind = option.kind,
                       .tasks = {task.name}});
      } else {
        known->help += "; " + help_of(task, option);
        known->tasks.push_back(task.name);
      }
    }
  }
  return all;
}

/// Refuses what the task's generator does not know.
void require_known(const GenerateOptions& options, const task::Task& task) {
  for (const AskedOption& option : options.asked)
    if (option.is_given() &&
        std::find(option.tasks.begin(), option.tasks.end(), task.name) == option.tasks.end())
      reject("--" + option.name, "is for --task " + join(option.tasks, " or "));
}

[[noreturn]] void give_up(const GenerateOptions& options, const task::Generator& generator,
                          size_t done) {
  std::vector<std::string> bounds;
  for (const GeneratorOption& option : generator.options)
    if (option.kind == GeneratorOption::Kind::Bound)
      bounds.push_back("--" + std::string(option.name));
  fail(ErrorCode::InvalidArgument, "data generate: board ", done + 1, " of ", options.count,
       ": none of ", options.tries, " tries has what is asked (",
       join(std::vector<std::string_view>(bounds.begin(), bounds.end()), ", "),
       "); ask for less, or allow more with --tries");
}

/// The boards that tries give, with a progress line.
std::vector<task::Example> make_boards(const GenerateOptions& options, const task::Task& task) {
  const task::Generator& generator = *task.generator;
  std::vector<int64_t> values;
  for (const GeneratorOption& option : generator.options)
    values.push_back(options.option(option.name).value_or(option.usual));
  const int64_t side =
      generator.usual_side > 0 ? options.option(kSide).value_or(generator.usual_side) : 0;
  const int64_t cells = side == 0 ? task.seq_len : side * side;
  const InterruptGuard guard;
  Progress progress("generating", options.count);
  Rng rng(options.seed);
  std::vector<task::Example> boards;
  for (int64_t tries = 0; std::ssize(boards) < options.count; ++tries) {
    if (was_interrupted())
      throw Interrupted("interrupted after " + std::to_string(boards.size()) + " of " +
                        std::to_string(options.count) + " boards; nothing was written");
    if (tries == options.tries) give_up(options, generator, boards.size());
    if (auto board = generator.attempt({.cells = cells, .values = values}, rng)) {
      boards.push_back(std::move(*board));
      tries = -1;
    }
    progress.show(std::ssize(boards), options.task + " boards");
  }
  return boards;
}

void generate(const GenerateOptions& options) {
  const task::Task& task = task::find_task(options.task);
  task::need(task, &task::Task::generator, "data generate", "generator");
  const auto write = task::need(task, &task::Task::write, "data generate", "files of its own");
  require_known(options, task);
  write_output(options.output, write(make_boards(options, task)));
  std::fprintf(stream_beside(options.output), "%s: %lld %s boards, seed %llu\n",
               options.output.c_str(), static_cast<long long>(options.count), options.task.c_str(),
               static_cast<unsigned long long>(options.seed));
}

}  // namespace

void add_generate(const Verb& verb) {
  auto options = std::make_shared<GenerateOptions>();
  verb.add_option("--task", options->task,
                  join(task::names_of_tasks(&task::Task::generator), " or ") + " (default " +
                      options->task + ")");
  verb.add_option("--count", options->count, "boards").required().positive();
  verb.add_option("--seed", options->seed, "seed of the random choices").required();
  verb.accepts_old("--output",
                   verb.add_output("--out", options->output, "CSV file to write, or -").required());
  verb.add_option("--tries", options->tries, "give up when so many boards in a row do not fit")
      .positive()
      .shows_default();
  options->asked = all_options();
  for (AskedOption& option : options->asked) {
    const std::string name = "--" + option.name;
    if (option.kind == GeneratorOption::Kind::Switch)
      verb.add_switch(name.c_str(), option.is_on, option.help);
    else
      verb.add_option(name.c_str(), option.number, option.help);
  }
  verb.example("driftless data generate --count 100 --seed 1 --min-rating 3 --out b.csv");
  verb.runs([options] { generate(*options); });
}

}  // namespace driftless::cli
