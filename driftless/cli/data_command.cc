// SPDX-License-Identifier: Apache-2.0
// driftless data: generate, check, convert and describe boards.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "driftless/base/error.h"
#include "driftless/base/file.h"
#include "driftless/cli/command.h"
#include "driftless/store/dataset.h"
#include "driftless/task/maze/csv.h"
#include "driftless/task/maze/generator.h"
#include "driftless/task/maze/path.h"
#include "driftless/task/sudoku/canonical.h"
#include "driftless/task/sudoku/csv.h"
#include "driftless/task/sudoku/generator.h"
#include "driftless/task/sudoku/solver.h"
#include "driftless/task/table.h"

namespace driftless::cli {
namespace {

using task::Example;
namespace maze = task::maze;
namespace sudoku = task::sudoku;

struct DataOptions {
  std::string task = "sudoku";
  std::string input;
  std::string output;
  std::string split = "test";
  int64_t count = 0;
  uint64_t seed = 0;
  sudoku::GeneratorOptions sudoku;
  maze::GeneratorOptions maze;
  bool unique_path = false;
};

[[noreturn]] void fail_other_task(const std::string& task, const char* verb) {
  fail(ErrorCode::Unsupported, "data ", verb, ": task; got '", task, "', expected sudoku or maze");
}

void generate(DataOptions& options) {
  Rng rng(options.seed);
  std::string text;
  if (options.task == "sudoku") {
    std::vector<sudoku::Puzzle> puzzles;
    for (int64_t i = 0; i < options.count; ++i) {
      puzzles.push_back(sudoku::generate(options.sudoku, rng));
    }
    text = sudoku::to_csv(puzzles);
  } else if (options.task == "maze") {
    options.maze.kind = options.unique_path ? maze::Kind::Perfect : maze::Kind::Scattered;
    std::vector<maze::Puzzle> puzzles;
    for (int64_t i = 0; i < options.count; ++i)
      puzzles.push_back(maze::generate(options.maze, rng));
    text = maze::to_csv(puzzles);
  } else {
    fail_other_task(options.task, "generate");
  }
  write_file_atomic(options.output, text);
  std::printf("%s: %lld %s boards, seed %llu\n", options.output.c_str(),
              static_cast<long long>(options.count), options.task.c_str(),
              static_cast<unsigned long long>(options.seed));
}

/// The boards of a file, or of a split of a data-set folder.
std::vector<Example> read_boards(const DataOptions& options) {
  const task::Task& task = task::find_task(options.task);
  if (!std::filesystem::is_directory(options.input)) return read_examples(task, options.input);
  const auto dataset = store::read_dataset(options.input, options.split);
  const auto length = static_cast<size_t>(dataset.seq_len);
  std::vector<Example> examples;
  for (size_t first = 0; first < dataset.inputs.size(); first += length) {
    const auto row = [&](const std::vector<uint8_t>& tokens) {
      const auto at = tokens.begin() + static_cast<int64_t>(first);
      return std::vector<uint8_t>(at, at + dataset.seq_len);
    };
    examples.push_back({.name = {}, .input = row(dataset.inputs), .label = row(dataset.labels)});
  }
  return examples;
}

void convert(const DataOptions& options) {
  std::string text;
  if (options.task == "sudoku") {
    std::vector<sudoku::Puzzle> puzzles;
    for (const Example& example : read_boards(options)) {
      const auto question = sudoku::board_from_tokens(example.input);
      puzzles.push_back({.source = example.name,
                         .question = question,
                         .answer = sudoku::board_from_tokens(example.label),
                         .rating = sudoku::solve(question).guesses});
    }
    text = sudoku::to_csv(puzzles);
  } else if (options.task == "maze") {
    std::vector<maze::Puzzle> puzzles;
    for (const Example& example : read_boards(options)) {
      const auto answer = maze::board_from_tokens(example.label);
      const auto inner = std::count(answer.cells.begin(), answer.cells.end(), maze::kPath);
      puzzles.push_back({.question = maze::board_from_tokens(example.input),
                         .answer = answer,
                         .path_cells = inner + 2});
    }
    text = maze::to_csv(puzzles);
  } else {
    fail_other_task(options.task, "convert");
  }
  write_file_atomic(options.output, text);
  std::printf("%s: written\n", options.output.c_str());
}

void check_sudoku(const std::vector<Example>& examples) {
  int64_t ambiguous = 0;
  std::set<std::string> kinds;
  for (const Example& example : examples) {
    const auto question = sudoku::board_from_tokens(example.input);
    const auto answer = sudoku::board_from_tokens(example.label);
    if (sudoku::solve(question).solutions != 1) {
      ++ambiguous;
    } else {
      kinds.insert(to_line(sudoku::canonical_form(question, answer)));
    }
  }
  const auto unique = static_cast<int64_t>(examples.size()) - ambiguous;
  std::printf("several solutions: %lld\nequivalent to an earlier board: %lld\n",
              static_cast<long long>(ambiguous),
              static_cast<long long>(unique - static_cast<int64_t>(kinds.size())));
}

void check_maze(const std::vector<Example>& examples) {
  int64_t other_path = 0;
  for (const Example& example : examples) {
    const auto labelled = maze::label(maze::board_from_tokens(example.input));
    if (!labelled || labelled->answer.cells != example.label) ++other_path;
  }
  std::printf("labels that the labelling rule does not give: %lld\n",
              static_cast<long long>(other_path));
}

void check(const DataOptions& options) {
  const auto examples = read_boards(options);
  std::printf("%s: %zu boards, every answer follows the rules\n", options.input.c_str(),
              examples.size());
  if (options.task == "sudoku") check_sudoku(examples);
  if (options.task == "maze") check_maze(examples);
}

void print_stats(const DataOptions& options) {
  const task::Task& task = task::find_task(options.task);
  const auto examples = read_boards(options);
  std::vector<int64_t> counts(task.alphabet.size());
  for (const Example& example : examples) {
    for (const uint8_t token : example.input) ++counts.at(token);
  }
  std::printf("boards %zu\ncells  %zu\n", examples.size(), examples.front().input.size());
  for (size_t token = 0; token < counts.size(); ++token) {
    if (counts[token] == 0) continue;
    std::printf("'%c'    %.3f a board\n", task.alphabet[token],
                static_cast<double>(counts[token]) / static_cast<double>(examples.size()));
  }
}

void add_task_flag(CLI::App& verb, DataOptions& options) {
  verb.add_option("--task", options.task, "sudoku, maze, arc or mini-arc (default sudoku)");
}

void add_input(CLI::App& verb, DataOptions& options) {
  verb.add_option("IN", options.input, "file of boards or data-set folder")->required();
  verb.add_option("--split", options.split, "split of a data-set folder (default test)");
  add_task_flag(verb, options);
}

void add_generate(CLI::App& verb, const std::shared_ptr<DataOptions>& options) {
  add_task_flag(verb, *options);
  verb.add_option("--count", options->count, "boards")->required()->check(CLI::PositiveNumber);
  verb.add_option("--seed", options->seed, "seed of the random choices")->required();
  verb.add_option("--output", options->output, "CSV file to write")->required();
  verb.add_option("--min-rating", options->sudoku.min_rating, "sudoku: least number of guesses");
  verb.add_option("--max-rating", options->sudoku.max_rating, "sudoku: most guesses");
  verb.add_option("--side", options->maze.side, "maze: cells of a side (default 30)");
  verb.add_option("--min-path", options->maze.min_path_cells, "maze: least cells of the path");
  verb.add_option("--max-path", options->maze.max_path_cells, "maze: most cells of the path");
  verb.add_flag("--unique-path", options->unique_path, "maze: a tree of corridors, one path");
  show_example(verb, "driftless data generate --count 100 --seed 1 --min-rating 3 --output b.csv");
  verb.callback([options] { generate(*options); });
}

}  // namespace

void add_data_command(CLI::App& verb) {
  auto options = std::make_shared<DataOptions>();
  verb.require_subcommand(1);
  add_generate(*verb.add_subcommand("generate", "boards of our own"), options);

  CLI::App& converting = *verb.add_subcommand("convert", "boards of any kind to CSV");
  add_input(converting, *options);
  converting.add_option("--output", options->output, "CSV file to write")->required();
  show_example(converting, "driftless data convert sudoku-folder --split test --output boards.csv");
  converting.callback([options] { convert(*options); });

  CLI::App& checking = *verb.add_subcommand("check", "whether boards and answers are sound");
  add_input(checking, *options);
  show_example(checking, "driftless data check boards.csv --task sudoku");
  checking.callback([options] { check(*options); });

  CLI::App& describing = *verb.add_subcommand("stats", "what a file of boards holds");
  add_input(describing, *options);
  show_example(describing, "driftless data stats mazes.csv --task maze");
  describing.callback([options] { print_stats(*options); });
}

}  // namespace driftless::cli
