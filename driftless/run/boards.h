// SPDX-License-Identifier: Apache-2.0
// Boards from files, standard input and data-set folders, as a model is asked about them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "driftless/store/checkpoint.h"
#include "driftless/task/arc/grid.h"
#include "driftless/task/table.h"

namespace driftless::run {

/// Where boards come from.
struct BoardFile {
  /// A file of the task, a data-set folder as TRM builds them or the folder of one of its splits,
  /// or "-" for standard input.
  std::string path;
  std::string split = "test";  ///< of a data-set folder
  int64_t limit = 0;           ///< only the first so many boards (ARC: tasks); 0: all
};

/// The task that a file or folder looks like: the first that claims its text, a data-set folder
/// by its vocabulary. Throws BadFile where none does, and what reading throws.
const task::Task& guess_task(const BoardFile& source);

/// The boards as the file has them. Throws what the readers throw.
std::vector<task::Example> read_boards(const task::Task& task, const BoardFile& source);

/// ARC tasks of a JSON file, a folder of JSON files, or the test inputs of a data-set folder.
std::vector<task::arc::Puzzle> read_arc_puzzles(const BoardFile& source);

/// How ARC tasks become boards for a model.
struct ArcOptions {
  std::string identifiers;  ///< JSON list of names; "": of the data-set folder or beside the model
  int64_t variants = 0;     ///< see task::arc::RowOptions
  uint64_t seed = 0;        ///< of the variants for a model without a puzzle table
};

/// The boards of a model's task; for ARC with the tasks behind them.
struct Boards {
  const task::Task& task;
  std::vector<task::Example> examples{};
  std::vector<task::arc::Puzzle> puzzles{};
  /// ARC tasks that the model's puzzle table does not have; they have no boards.
  std::vector<std::string> strangers{};

  [[nodiscard]] bool are_arc() const { return task.is_arc(); }
};

/// Boards that fit the model of a file. Throws what the readers throw, BadFile where the boards do
/// not fit (see require_fits) or the list of names does not fit the puzzle table, InvalidArgument
/// when a grid does not fit its canvas or the model knows none of the ARC tasks.
Boards read_boards_for(const store::Checkpoint& checkpoint, const std::filesystem::path& model,
                       const BoardFile& source, const ArcOptions& options);

}  // namespace driftless::run
