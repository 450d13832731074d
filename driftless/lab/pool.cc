// SPDX-License-Identifier: Apache-2.0
#include "driftless/lab/pool.h"

#include <algorithm>
#include <set>
#include <sstream>
#include <string>

#include "driftless/base/error.h"
#include "driftless/lab/symmetry.h"
#include "driftless/task/sudoku/csv.h"
#include "driftless/task/sudoku/generator.h"

namespace driftless::lab {
namespace {

using task::Example;
namespace sudoku = task::sudoku;
using Forms = std::set<std::string>;
using Talk = std::function<void(std::string_view)>;

Example example_of(const sudoku::Puzzle& puzzle) {
  return {puzzle.source, sudoku::to_tokens(puzzle.question), sudoku::to_tokens(puzzle.answer)};
}

std::vector<Example> read_file(const Recipe& recipe, const BoardSource& source,
                               const std::filesystem::path& data) {
  const std::filesystem::path path = data / source.file;
  std::vector<Example> boards;
  if (source.min_rating > 0) {
    for (const sudoku::Puzzle& puzzle : sudoku::read_puzzles(path))
      if (puzzle.rating >= source.min_rating) boards.push_back(example_of(puzzle));
  } else {
    boards = task::read_examples(task_of(recipe), path);
  }
  DRIFTLESS_REQUIRE(!boards.empty(), ErrorCode::BadConfig, path.string(),
                    ": got no board of rating ", source.min_rating, "; lower min_rating");
  DRIFTLESS_REQUIRE(std::ssize(boards.front().input) == recipe.model.seq_len, ErrorCode::BadConfig,
                    path.string(), ": got boards of ", boards.front().input.size(),
                    " cells, expected ", recipe.model.seq_len, " (model.seq_len)");
  return boards;
}

/// Shows up to `most` of the blank cells.
void add_clues(sudoku::Puzzle& puzzle, int64_t most, Rng& rng) {
  for (auto left = static_cast<int64_t>(rng.below(static_cast<uint64_t>(most) + 1)); left > 0;) {
    const auto cell = static_cast<int64_t>(rng.below(static_cast<uint64_t>(puzzle.answer.size())));
    if (puzzle.question.at(cell) == 0) --left;
    puzzle.question.at(cell) = puzzle.answer.at(cell);
    if (puzzle.question == puzzle.answer) return;
  }
}

enum class Repeats { Kept, Dropped };

/// Boards whose forms are not in `taken`; with Dropped none is equivalent to an earlier one.
std::vector<Example> make_boards(const Recipe& recipe, const BoardSource& source, Forms taken,
                                 Repeats repeats) {
  constexpr int64_t kTriesPerBoard = 100;
  const sudoku::GeneratorOptions options{.box = sudoku::box_of_size(recipe.model.seq_len),
                                         .min_rating = source.min_rating};
  Rng rng(static_cast<uint64_t>(source.seed));
  std::vector<Example> boards;
  for (int64_t tries = 0; std::ssize(boards) < source.generate; ++tries) {
    DRIFTLESS_REQUIRE(tries < kTriesPerBoard * source.generate, ErrorCode::BadConfig,
                      "generate: got ", boards.size(), " boards that differ up to symmetry, ",
                      "expected ", source.generate, "; ask for fewer or for more extra_clues");
    sudoku::Puzzle puzzle = sudoku::generate(options, rng);
    add_clues(puzzle, source.extra_clues, rng);
    Example board = example_of(puzzle);
    std::string form = canonical_text(task_of(recipe), board);
    if (taken.contains(form)) continue;
    if (repeats == Repeats::Dropped) taken.insert(std::move(form));
    boards.push_back(std::move(board));
  }
  return boards;
}

Forms forms_of(const task::Task& task, std::span<const Example> boards) {
  Forms forms;
  for (const Example& board : boards) forms.insert(canonical_text(task, board));
  return forms;
}

template <class... Parts>
void say(const Talk& talk, const Parts&... parts) {
  std::ostringstream line;
  (line << ... << parts);
  talk(line.str());
}

}  // namespace

std::vector<Example> read_held_out(const Recipe& recipe, const std::filesystem::path& data) {
  std::vector<Example> boards = recipe.eval.generate > 0
                                    ? make_boards(recipe, recipe.eval, {}, Repeats::Dropped)
                                    : read_file(recipe, recipe.eval, data);
  if (std::ssize(boards) > recipe.eval_boards)
    boards.resize(static_cast<size_t>(recipe.eval_boards));
  return boards;
}

BoardPool read_pool(const Recipe& recipe, const std::filesystem::path& data,
                    std::span<const Example> held_out, const Talk& talk) {
  std::vector<PoolPart> parts;
  for (const Recipe::PoolPart& part : recipe.pool) {
    const BoardSource& source = part.source;
    if (source.generate > 0)
      parts.push_back(
          {make_boards(recipe, source, forms_of(task_of(recipe), held_out), Repeats::Kept),
           part.share});
    else
      parts.push_back({read_file(recipe, source, data), part.share});
    say(talk, "pool: ",
        source.generate > 0 ? "generated, seed " + std::to_string(source.seed) : source.file, ", ",
        parts.back().boards.size(), " boards, share ", part.share);
  }
  return {task_of(recipe), std::move(parts), recipe.augment ? Augment::On : Augment::Off};
}

int64_t count_equivalent(const task::Task& task, std::span<const Example> pool,
                         std::span<const Example> held_out) {
  const Forms forms = forms_of(task, held_out);
  return std::count_if(pool.begin(), pool.end(), [&](const Example& board) {
    return forms.contains(canonical_text(task, board));
  });
}

void require_disjoint(const Recipe& recipe, const std::filesystem::path& data, const Talk& talk) {
  Recipe whole = recipe;
  whole.eval_boards = std::numeric_limits<int64_t>::max();
  const std::vector<Example> held_out = read_held_out(whole, data);
  int64_t shared = 0;
  for (const Recipe::PoolPart& part : recipe.pool) {
    if (part.source.generate > 0) continue;  // read_pool leaves the equivalent ones out
    const std::vector<Example> boards = read_file(recipe, part.source, data);
    const int64_t equivalent = count_equivalent(task_of(recipe), boards, held_out);
    say(talk, part.source.file, ": ", boards.size(), " boards, ", equivalent,
        " equivalent to one of the ", held_out.size(), " of evaluation");
    shared += equivalent;
  }
  DRIFTLESS_REQUIRE(shared == 0, ErrorCode::BadConfig, "disjoint: got ", shared,
                    " training boards that are evaluation boards up to symmetry, expected 0");
}

}  // namespace driftless::lab
