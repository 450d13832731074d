// SPDX-License-Identifier: Apache-2.0
#include "driftless/cli/data/data_report.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <set>
#include <vector>

#include "driftless/base/error.h"
#include "driftless/task/arc/json.h"
#include "driftless/task/maze/path.h"
#include "driftless/task/sudoku/canonical.h"
#include "driftless/task/sudoku/solver.h"

namespace driftless::cli {
namespace {

namespace arc = task::arc;
namespace maze = task::maze;
namespace sudoku = task::sudoku;
using task::Example;

std::string line(const std::string& what, int64_t count) {
  return what + ": " + std::to_string(count) + "\n";
}

template <class IsAnswer>
void require_answers(std::span<const Example> examples, const std::string& where,
                     IsAnswer is_answer) {
  for (size_t i = 0; i < examples.size(); ++i)
    DRIFTLESS_REQUIRE(is_answer(examples[i]), ErrorCode::BadFile, where, ": board ", i,
                      ": the label is no answer to the question");
}

std::string check_sudoku(std::span<const Example> examples, const std::string& where) {
  require_answers(examples, where, [](const Example& example) {
    return sudoku::is_answer(sudoku::board_from_tokens(example.input),
                             sudoku::board_from_tokens(example.label));
  });
  int64_t ambiguous = 0;
  std::set<std::string> kinds;
  for (const Example& example : examples) {
    const auto question = sudoku::board_from_tokens(example.input);
    const auto answer = sudoku::board_from_tokens(example.label);
    if (sudoku::solve(question).solutions != 1)
      ++ambiguous;
    else
      kinds.insert(to_line(sudoku::canonical_form(question, answer)));
  }
  return line("several solutions", ambiguous) +
         line("equivalent to an earlier board",
              std::ssize(examples) - ambiguous - std::ssize(kinds));
}

std::string check_maze(std::span<const Example> examples, const std::string& where) {
  require_answers(examples, where, [](const Example& example) {
    const auto labelled = maze::label(maze::board_from_tokens(example.input));
    return labelled && maze::check(*labelled, example.label) != task::Outcome::Wrong;
  });
  int64_t other_path = 0;
  for (const Example& example : examples) {
    const auto labelled = maze::label(maze::board_from_tokens(example.input));
    if (labelled->answer.cells != example.label) ++other_path;
  }
  return line("labels that the labelling rule does not give", other_path);
}

/// "rating       mean 2.31, 0 to 17".
std::string spread(const char* name, const std::vector<int64_t>& values) {
  double sum = 0;
  for (const int64_t value : values) sum += static_cast<double>(value);
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  std::array<char, 128> text{};
  std::snprintf(text.data(), text.size(), "%-12s mean %.2f, %lld to %lld\n", name,
                sum / static_cast<double>(values.size()), static_cast<long long>(*low),
                static_cast<long long>(*high));
  return text.data();
}

std::string counted(const char* name, int64_t count) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%-12s %lld\n", name, static_cast<long long>(count));
  return text.data();
}

std::string sudoku_stats(std::span<const Example> examples) {
  std::vector<int64_t> clues;
  std::vector<int64_t> ratings;
  for (const Example& example : examples) {
    const auto question = sudoku::board_from_tokens(example.input);
    clues.push_back(question.clue_count());
    ratings.push_back(sudoku::solve(question).guesses);
  }
  return spread("clues", clues) + spread("rating", ratings);
}

std::string maze_stats(std::span<const Example> examples) {
  std::vector<int64_t> walls;
  std::vector<int64_t> path_cells;
  for (const Example& example : examples) {
    walls.push_back(std::count(example.input.begin(), example.input.end(), maze::kWall));
    // The path has S and G at its ends.
    path_cells.push_back(std::count(example.label.begin(), example.label.end(), maze::kPath) + 2);
  }
  return spread("walls", walls) + spread("path cells", path_cells);
}

struct ArcCounts {
  int64_t train = 0, test = 0, unknown = 0;
};

ArcCounts count_pairs(std::span<const arc::Puzzle> puzzles) {
  ArcCounts counts;
  for (const arc::Puzzle& puzzle : puzzles) {
    counts.train += std::ssize(puzzle.train);
    counts.test += std::ssize(puzzle.test);
    counts.unknown += std::count_if(puzzle.test.begin(), puzzle.test.end(),
                                    [](const arc::Pair& pair) { return !pair.output; });
  }
  return counts;
}

}  // namespace

std::string check_text(const task::Task& task, std::span<const Example> examples,
                       const std::string& where) {
  return std::to_string(examples.size()) + " boards, every answer follows the rules\n" +
         (task.name == "sudoku" ? check_sudoku(examples, where) : check_maze(examples, where));
}

std::string check_text(std::span<const arc::Puzzle> puzzles) {
  std::set<std::string> kinds;
  int64_t bare = 0;
  for (arc::Puzzle puzzle : puzzles) {
    if (puzzle.train.empty() || puzzle.test.empty()) ++bare;
    puzzle.name.clear();
    kinds.insert(arc::to_json(std::span(&puzzle, 1)));
  }
  return std::to_string(puzzles.size()) + " tasks, every grid is sound\n" +
         line("without demonstrations or test inputs", bare) +
         line("test inputs without output", count_pairs(puzzles).unknown) +
         line("equal to an earlier task", std::ssize(puzzles) - std::ssize(kinds));
}

std::string stats_text(const task::Task& task, std::span<const Example> examples) {
  return counted("boards", std::ssize(examples)) +
         counted("cells", std::ssize(examples.front().input)) +
         (task.name == "sudoku" ? sudoku_stats(examples) : maze_stats(examples));
}

std::string stats_text(std::span<const arc::Puzzle> puzzles) {
  const ArcCounts counts = count_pairs(puzzles);
  std::vector<int64_t> demonstrations;
  std::vector<int64_t> cells;
  for (const arc::Puzzle& puzzle : puzzles) {
    demonstrations.push_back(std::ssize(puzzle.train));
    for (const auto* pairs : {&puzzle.train, &puzzle.test})
      for (const arc::Pair& pair : *pairs) {
        cells.push_back(pair.input.extent.size());
        if (pair.output) cells.push_back(pair.output->extent.size());
      }
  }
  return counted("tasks", std::ssize(puzzles)) + counted("train pairs", counts.train) +
         counted("test inputs", counts.test) + spread("train/task", demonstrations) +
         (cells.empty() ? "" : spread("grid cells", cells));
}

}  // namespace driftless::cli
