// SPDX-License-Identifier: Apache-2.0
#include "driftless/lab/data/pool.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <set>
#include <sstream>
#include <utility>

#include "driftless/base/error.h"
#include "driftless/store/dataset/dataset.h"
#include "driftless/task/arc/rows.h"

namespace driftless::lab {
namespace {

using task::Example;
using Forms = std::set<std::string>;
using Talk = std::function<void(std::string_view)>;

bool has_counted_cells(const Example& board) {
  return std::any_of(board.label.begin(), board.label.end(), [](uint8_t cell) { return cell > 0; });
}

/// The rows of a split whose answer is known.
std::vector<Example> read_folder(const std::filesystem::path& folder, std::string_view split) {
  const store::PuzzleDataset set = store::read_dataset(folder, split);
  std::vector<Example> boards;
  for (const store::DatasetRow& row : store::rows_of(set))
    boards.push_back({.name = std::string(row.name),
                      .input = {row.input.begin(), row.input.end()},
                      .label = {row.label.begin(), row.label.end()},
                      .puzzle = row.identifier});
  std::erase_if(boards, [](const Example& board) { return !has_counted_cells(board); });
  return boards;
}

/// `split` is that of a data-set folder.
std::vector<Example> read_file(const Recipe& recipe, const BoardSource& source,
                               const std::filesystem::path& data, std::string_view split) {
  const std::filesystem::path path = data / source.file;
  const bool is_folder = store::is_dataset(path);
  const task::Task& task = task_of(recipe);
  DRIFTLESS_REQUIRE(is_folder || !task.is_arc(), ErrorCode::BadConfig, path.string(),
                    ": not a data-set folder; driftless data augment makes one");
  std::vector<Example> boards =
      is_folder ? read_folder(path, split) : task::read_examples(task, path);
  if (!is_folder)
    std::erase_if(boards, [&](const Example& board) { return board.rating < source.min_rating; });
  DRIFTLESS_REQUIRE(!boards.empty(), ErrorCode::BadConfig, path.string(),
                    ": got no board of rating ", source.min_rating,
                    " with an answer; lower min_rating");
  DRIFTLESS_REQUIRE(std::ssize(boards.front().input) == recipe.model.seq_len, ErrorCode::BadConfig,
                    path.string(), ": got boards of ", boards.front().input.size(),
                    " cells, expected ", recipe.model.seq_len, " (model.seq_len)");
  return boards;
}

/// What a source asks of the task's generator, in the order of its options.
std::vector<int64_t> asked_values(const task::Generator& generator, const BoardSource& source) {
  const std::pair<std::string_view, int64_t> asked[] = {{"extra-clues", source.extra_clues},
                                                        {"min-rating", source.min_rating},
                                                        {"min-path", source.min_path}};
  std::vector<int64_t> values;
  for (const task::GeneratorOption& option : generator.options) {
    const auto* const row = std::find_if(std::begin(asked), std::end(asked),
                                         [&](const auto& one) { return one.first == option.name; });
    values.push_back(row == std::end(asked) ? option.usual : row->second);
  }
  return values;
}

enum class Repeats { Kept, Dropped };

/// Boards whose forms are not in `taken`; with Dropped none is equivalent to an earlier one.
std::vector<Example> make_boards(const Recipe& recipe, const BoardSource& source, Forms taken,
                                 Repeats repeats) {
  constexpr int64_t kTriesPerBoard = 100;
  const task::Task& task = task_of(recipe);
  const std::vector<int64_t> values = asked_values(*task.generator, source);
  Rng rng(static_cast<uint64_t>(source.seed));
  std::vector<Example> boards;
  for (int64_t tries = 0; std::ssize(boards) < source.generate; ++tries) {
    DRIFTLESS_REQUIRE(tries < kTriesPerBoard * source.generate, ErrorCode::BadConfig,
                      "generate: got ", boards.size(), " boards that differ up to symmetry, ",
                      "expected ", source.generate, "; ask for fewer or for more extra_clues");
    Example board = task::generate(task, {.cells = recipe.model.seq_len, .values = values}, rng);
    std::string form = canonical_text(task, board);
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

std::vector<std::string> fit_puzzle_table(Recipe& recipe, const std::filesystem::path& data) {
  std::vector<std::string> names;
  if (recipe.model.puzzle_emb_len == 0) return names;
  std::vector<BoardSource> sources = {recipe.eval};
  for (const Recipe::PoolPart& part : recipe.pool) sources.push_back(part.source);
  for (const BoardSource& source : sources) {
    const std::filesystem::path folder = data / source.file;
    if (source.file.empty() || !store::is_dataset(folder)) continue;
    std::vector<std::string> more = task::arc::read_identifiers(folder / "identifiers.json");
    DRIFTLESS_REQUIRE(names.empty() || names == more, ErrorCode::BadConfig, folder.string(),
                      ": identifiers.json; got other rows of the puzzle table than in the folders "
                      "before, expected the same");
    names = std::move(more);
  }
  if (!names.empty()) recipe.model.num_puzzle_identifiers = std::ssize(names);
  return names;
}

std::vector<Example> read_held_out(const Recipe& recipe, const std::filesystem::path& data) {
  std::vector<Example> boards = recipe.eval.generate > 0
                                    ? make_boards(recipe, recipe.eval, {}, Repeats::Dropped)
                                    : read_file(recipe, recipe.eval, data, "test");
  const int64_t all = std::ssize(boards);
  if (all <= recipe.eval_boards) return boards;
  const bool is_folder = recipe.eval.generate == 0 && store::is_dataset(data / recipe.eval.file);
  // Variants of a task follow each other, and the first tasks alone would be a poor sample.
  for (int64_t i = 0; is_folder && i < recipe.eval_boards; ++i)
    std::swap(boards[static_cast<size_t>(i)],
              boards[static_cast<size_t>(i * all / recipe.eval_boards)]);
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
      parts.push_back({read_file(recipe, source, data, "train"), part.share});
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
    const std::vector<Example> boards = read_file(recipe, part.source, data, "train");
    const int64_t equivalent = count_equivalent(task_of(recipe), boards, held_out);
    say(talk, part.source.file, ": ", boards.size(), " boards, ", equivalent,
        " equivalent to one of the ", held_out.size(), " of evaluation");
    shared += equivalent;
  }
  DRIFTLESS_REQUIRE(shared == 0, ErrorCode::BadConfig, "disjoint: got ", shared,
                    " training boards that are evaluation boards up to symmetry, expected 0");
}

}  // namespace driftless::lab
