// SPDX-License-Identifier: Apache-2.0
#include "driftless/run/boards.h"

#include <cmath>

#include "driftless/base/error.h"
#include "driftless/base/files/standard_input.h"
#include "driftless/base/files/text_file.h"
#include "driftless/base/text/quote.h"
#include "driftless/base/text/text.h"
#include "driftless/run/model.h"
#include "driftless/store/dataset/dataset.h"
#include "driftless/task/arc/json.h"
#include "driftless/task/arc/rows.h"

namespace driftless::run {
namespace {

namespace arc = task::arc;
using Path = std::filesystem::path;

/// FOLDER/SPLIT as the folder and its split.
BoardFile resolved(BoardFile source) {
  std::error_code error;
  const Path split = std::filesystem::canonical(source.path, error);
  if (error || !std::filesystem::exists(split / "dataset.json", error)) return source;
  source.path = split.parent_path().string();
  source.split = split.filename().string();
  return source;
}

std::vector<arc::Puzzle> read_puzzles(const Path& path) {
  if (path != kStandardStream) return arc::read_puzzles(path);
  return arc::parse_puzzles(standard_input(), kStandardInput, "task");
}

/// A folder of ARC's JSON files has no splits.
bool is_dataset_folder(const BoardFile& source) { return store::is_dataset(source.path); }

/// The rows of a split, each with its puzzle's id and name; rows that only fill a batch are left
/// out.
std::vector<task::Example> read_folder(const BoardFile& source) {
  const store::PuzzleDataset set = store::read_dataset(source.path, source.split);
  std::vector<task::Example> examples;
  for (const store::DatasetRow& row : store::rows_of(set))
    examples.push_back({.name = std::string(row.name == arc::kBlankName ? "" : row.name),
                        .input = {row.input.begin(), row.input.end()},
                        .label = {row.label.begin(), row.label.end()},
                        .puzzle = row.identifier});
  return examples;
}

template <class Item>
void cut(std::vector<Item>& items, int64_t limit) {
  if (limit > 0 && limit < std::ssize(items)) items.resize(static_cast<size_t>(limit));
}

std::vector<arc::Puzzle> read_folder_puzzles(const BoardFile& source) {
  std::vector<task::Example> rows = read_folder(source);
  std::erase_if(rows, [](const task::Example& row) { return row.name.empty(); });
  DRIFTLESS_REQUIRE(!rows.empty(), ErrorCode::BadFile, source.path,
                    ": no board has the name of a task; is identifiers.json missing?");
  try {
    return arc::puzzles_of(rows);
  } catch (const Error& error) {
    fail(ErrorCode::BadFile, source.path, "/", source.split, ": ", error.what());
  }
}

/// Where the names of the puzzle table's rows are.
Path identifiers_path(const Path& model, const BoardFile& source, const ArcOptions& options) {
  if (!options.identifiers.empty()) return options.identifiers;
  if (is_dataset_folder(source)) return Path(source.path) / "identifiers.json";
  Path beside = model.parent_path() / "identifiers.json";
  std::error_code ignored;
  DRIFTLESS_REQUIRE(
      std::filesystem::exists(beside, ignored), ErrorCode::InvalidArgument, model.string(),
      ": the model has a row for each puzzle and nothing says which is whose; expected "
      "identifiers.json beside it or --identifiers FILE");
  return beside;
}

arc::Identifiers read_names(const model::ModelConfig& config, const Path& path) {
  const std::vector<std::string> names = arc::read_identifiers(path);
  DRIFTLESS_REQUIRE(std::ssize(names) == config.num_puzzle_identifiers, ErrorCode::BadFile,
                    path.string(), ": not the list of this model; got ", names.size(),
                    " names, expected num_puzzle_identifiers = ", config.num_puzzle_identifiers);
  return {names, path.string()};
}

/// The task with that many tokens; boards of other sizes share it.
const task::Task& task_of_vocabulary(int64_t vocab_size, const BoardFile& source) {
  for (const task::Task& task : task::tasks())
    if (task.vocab_size() == vocab_size) return task;
  fail(ErrorCode::BadFile, source.path, ": no task has a vocabulary of ", vocab_size,
       " tokens; name one with --task");
}

/// The task that a file or folder looks like, or null.
const task::Task* looks_like(const BoardFile& source) {
  if (is_dataset_folder(source))
    return &task_of_vocabulary(store::read_dataset(source.path, source.split).vocab_size, source);
  std::error_code ignored;
  if (std::filesystem::is_directory(source.path, ignored)) return &task::find_task("arc");
  return task::claimant(source.path == kStandardStream ? standard_input() : read_text(source.path));
}

/// Boards that are not there can be made, where the task has a generator.
void require_there(const task::Task& task, const BoardFile& source) {
  std::error_code error;
  const bool is_there = source.path == kStandardStream ||
                        std::filesystem::exists(source.path, error) || error.value() != 0;
  DRIFTLESS_REQUIRE(is_there || task.generator == nullptr, ErrorCode::Io, source.path,
                    ": cannot open for reading; got No such file or directory; 'driftless data "
                    "generate --task ",
                    task.name, "' makes boards");
}

/// Reads a file of a task; where that fails because it holds boards of another one, says so.
template <class Read>
auto read_file_of(std::string_view task, const BoardFile& source, Read read) {
  try {
    return read(source.path);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::BadFile) throw;
    const task::Task* other = looks_like(source);
    if (other == nullptr || other->name == task) throw;
    fail(error.code(), error.what(), "; the file looks like ", other->name, ", not ", task);
  }
}

void add_arc_boards(const store::Checkpoint& checkpoint, const Path& model, const BoardFile& source,
                    const ArcOptions& options, Boards& boards) {
  const model::ModelConfig& config = checkpoint.config;
  const arc::RowOptions row_options{
      .side = std::llround(std::sqrt(static_cast<double>(config.seq_len))),
      .variants = options.variants};
  boards.puzzles = read_arc_puzzles(source);
  if (config.puzzle_emb_len == 0 || config.num_puzzle_identifiers == 1) {
    Rng rng(options.seed);
    boards.examples = arc::rows(boards.puzzles, row_options, rng);
    return;
  }
  const Path names = identifiers_path(model, source, options);
  const arc::Identifiers identifiers = read_names(config, names);
  for (const arc::Puzzle& puzzle : boards.puzzles)
    if (identifiers.of(puzzle.name).empty()) boards.strangers.push_back(puzzle.name);
  DRIFTLESS_REQUIRE(boards.strangers.size() < boards.puzzles.size(), ErrorCode::InvalidArgument,
                    source.path, ": the model knows none of the tasks; got ",
                    quote(boards.strangers.front()), ", expected names of ", names.string());
  boards.examples = arc::rows(boards.puzzles, identifiers, row_options);
}

}  // namespace

const task::Task& guess_task(const BoardFile& given) {
  const task::Task* task = looks_like(resolved(given));
  DRIFTLESS_REQUIRE(task != nullptr, ErrorCode::BadFile,
                    given.path == kStandardStream ? kStandardInput : given.path,
                    ": looks like the boards of no task; expected boards of ",
                    join(task::names_of_tasks(), ", "), ", or --task");
  return *task;
}

std::vector<task::Example> read_boards(const task::Task& task, const BoardFile& given) {
  const BoardFile source = resolved(given);
  require_there(task, source);
  std::vector<task::Example> examples =
      is_dataset_folder(source)
          ? read_folder(source)
          : read_file_of(task.name, source, [&](const Path& path) {
              return path == kStandardStream
                         ? task::parse_examples(task, standard_input(), kStandardInput)
                         : task::read_examples(task, path);
            });
  DRIFTLESS_REQUIRE(!examples.empty(), ErrorCode::BadFile, source.path, ": no boards");
  cut(examples, source.limit);
  return examples;
}

std::vector<arc::Puzzle> read_arc_puzzles(const BoardFile& given) {
  const BoardFile source = resolved(given);
  std::vector<arc::Puzzle> puzzles = is_dataset_folder(source)
                                         ? read_folder_puzzles(source)
                                         : read_file_of("arc", source, read_puzzles);
  DRIFTLESS_REQUIRE(!puzzles.empty(), ErrorCode::BadFile, source.path,
                    ": no ARC tasks; a folder needs *.json files or test/dataset.json");
  cut(puzzles, source.limit);
  return puzzles;
}

Boards read_boards_for(const store::Checkpoint& checkpoint, const Path& model,
                       const BoardFile& source, const ArcOptions& options) {
  Boards boards{.task = task_of(checkpoint)};
  if (boards.are_arc())
    add_arc_boards(checkpoint, model, resolved(source), options, boards);
  else
    boards.examples = read_boards(boards.task, source);
  require_fits(checkpoint, boards.examples, source.path);
  return boards;
}

}  // namespace driftless::run
