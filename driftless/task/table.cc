// SPDX-License-Identifier: Apache-2.0
#include "driftless/task/table.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "driftless/base/error.h"
#include "driftless/base/text.h"
#include "driftless/task/arc/json.h"
#include "driftless/task/maze/csv.h"
#include "driftless/task/maze/generator.h"
#include "driftless/task/maze/path.h"
#include "driftless/task/sudoku/csv.h"
#include "driftless/task/sudoku/generator.h"
#include "driftless/task/text_file.h"

namespace driftless::task {
namespace {

Outcome check_counted_cells(const Example& example, std::span<const uint8_t> prediction) {
  const Share cells = matching_cells(example.label, prediction);
  return cells.n > 0 && cells.hits == cells.n ? Outcome::Exact : Outcome::Wrong;
}

std::vector<Example> parse_sudoku(std::string_view text, const std::string& where) {
  std::vector<Example> examples;
  for (const sudoku::Puzzle& puzzle : sudoku::parse_puzzles(text, where))
    examples.push_back({.name = puzzle.source,
                        .input = sudoku::to_tokens(puzzle.question),
                        .label = sudoku::to_tokens(puzzle.answer)});
  return examples;
}

Example make_sudoku(int64_t cells, Rng& rng) {
  const sudoku::Puzzle puzzle = sudoku::generate({.box = sudoku::box_of_size(cells)}, rng);
  return {.name = {},
          .input = sudoku::to_tokens(puzzle.question),
          .label = sudoku::to_tokens(puzzle.answer)};
}

Outcome check_sudoku(const Example& example, std::span<const uint8_t> prediction) {
  if (check_counted_cells(example, prediction) == Outcome::Exact) return Outcome::Exact;
  const sudoku::Board question = sudoku::board_from_tokens(example.input);
  const bool is_full = std::all_of(prediction.begin(), prediction.end(), [&](uint8_t token) {
    return token >= 2 && token <= question.side() + 1;
  });
  const bool is_right =
      is_full && sudoku::is_answer(question, sudoku::board_from_tokens(prediction));
  return is_right ? Outcome::Accepted : Outcome::Wrong;
}

std::vector<Example> parse_maze(std::string_view text, const std::string& where) {
  std::vector<Example> examples;
  for (maze::Puzzle& puzzle : maze::parse_csv(text, where))
    examples.push_back({.name = {},
                        .input = std::move(puzzle.question.cells),
                        .label = std::move(puzzle.answer.cells)});
  return examples;
}

/// Paths as long as those of Maze-Hard on its boards of 30 x 30, shorter on smaller ones.
Example make_maze(int64_t cells, Rng& rng) {
  constexpr int64_t kPathCells = 110;
  const int64_t side = std::llround(std::sqrt(static_cast<double>(cells)));
  DRIFTLESS_REQUIRE(side * side == cells, ErrorCode::InvalidArgument, "maze; got ", cells,
                    " cells, expected a square");
  maze::Puzzle puzzle =
      maze::generate({.side = side, .min_path_cells = std::min(kPathCells, cells / 8)}, rng);
  return {.name = {},
          .input = std::move(puzzle.question.cells),
          .label = std::move(puzzle.answer.cells)};
}

Outcome check_maze(const Example& example, std::span<const uint8_t> prediction) {
  return maze::check({.question = maze::board_from_tokens(example.input),
                      .answer = maze::board_from_tokens(example.label)},
                     prediction);
}

/// For tasks whose files are texts of their own.
template <std::vector<Example> (*kParse)(std::string_view, const std::string&)>
std::vector<Example> read_file_with(const std::filesystem::path& path) {
  return kParse(read_text(path), path.string());
}

/// The test pairs with a known output, grids in the top left corner of the canvas.
template <int64_t kSide>
std::vector<Example> examples_of(std::span<const arc::Puzzle> puzzles) {
  const arc::Canvas canvas{.side = kSide};
  std::vector<Example> examples;
  for (const arc::Puzzle& puzzle : puzzles)
    for (const arc::Pair& pair : puzzle.test)
      if (pair.output)
        examples.push_back({.name = puzzle.name,
                            .input = arc::encode(pair.input, canvas),
                            .label = arc::encode(*pair.output, canvas)});
  return examples;
}

template <int64_t kSide>
std::vector<Example> read_arc(const std::filesystem::path& path) {
  return examples_of<kSide>(arc::read_puzzles(path));
}

template <int64_t kSide>
std::vector<Example> parse_arc(std::string_view text, const std::string& where) {
  return examples_of<kSide>(arc::parse_puzzles(text, where, "task"));
}

std::vector<Example> read_no_file(const std::filesystem::path& path) {
  fail(ErrorCode::BadFile, path.string(),
       ": boards of a task without files of its own; expected a data-set folder");
}

std::vector<Example> parse_no_text(std::string_view /*text*/, const std::string& where) {
  return read_no_file(where);
}

constexpr Task kOtherTask = {
    .name = "other",
    .description = "any other task: data-set folders",
    .alphabet = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ",
    .seq_len = 0,
    .read = read_no_file,
    .parse = parse_no_text,
    .check = check_counted_cells};

constexpr std::string_view kArcAlphabet = "?|0123456789";

constexpr std::array<Task, 4> kTasks = {{
    {.name = "sudoku",
     .description = "Sudoku: CSV of Sudoku-Extreme or one board a line",
     .alphabet = "?.123456789",
     .seq_len = 81,
     .read = read_file_with<parse_sudoku>,
     .parse = parse_sudoku,
     .check = check_sudoku,
     .generate = make_sudoku},
    {.name = "maze",
     .description = "Maze: CSV of Maze-Hard",
     .alphabet = maze::kAlphabet,
     .seq_len = 900,
     .read = read_file_with<parse_maze>,
     .parse = parse_maze,
     .check = check_maze,
     .generate = make_maze},
    {.name = "arc",
     .description = "ARC-AGI-1, ARC-AGI-2, ConceptARC: JSON, on a 30x30 canvas",
     .alphabet = kArcAlphabet,
     .seq_len = 900,
     .read = read_arc<30>,
     .parse = parse_arc<30>,
     .check = check_counted_cells},
    {.name = "mini-arc",
     .description = "Mini-ARC: JSON, on a 5x5 canvas",
     .alphabet = kArcAlphabet,
     .seq_len = 25,
     .read = read_arc<5>,
     .parse = parse_arc<5>,
     .check = check_counted_cells},
}};

/// The examples, if there are some, all of one size.
std::vector<Example> of_one_size(std::vector<Example> examples, const Task& task,
                                 const std::string& where) {
  DRIFTLESS_REQUIRE(!examples.empty(), ErrorCode::BadFile, where, ": no ", task.name, " boards");
  for (const Example& example : examples)
    DRIFTLESS_REQUIRE(example.input.size() == examples.front().input.size(), ErrorCode::BadFile,
                      where, ": boards of several sizes; got ", examples.front().input.size(),
                      " and ", example.input.size(), " cells");
  return examples;
}

}  // namespace

std::span<const Task> tasks() { return kTasks; }

const Task& find_task(std::string_view name) {
  const auto row = std::find_if(kTasks.begin(), kTasks.end(),
                                [&](const Task& task) { return task.name == name; });
  if (row != kTasks.end()) return *row;
  std::vector<std::string_view> names;
  names.reserve(kTasks.size());
  for (const Task& task : kTasks) names.push_back(task.name);
  fail(ErrorCode::InvalidArgument, "unknown task; got '", name, "', expected one of ",
       join(names, ", "), did_you_mean(name, names));
}

const Task& other_task() { return kOtherTask; }

std::vector<Example> read_examples(const Task& task, const std::filesystem::path& path) {
  return of_one_size(task.read(path), task, path.string());
}

std::vector<Example> parse_examples(const Task& task, std::string_view text,
                                    const std::string& where) {
  return of_one_size(task.parse(text, where), task, where);
}

std::string to_text(const Task& task, std::span<const uint8_t> tokens) {
  std::string text;
  for (const uint8_t token : tokens)
    text += token < task.alphabet.size() ? task.alphabet[token] : '?';
  return text;
}

}  // namespace driftless::task
