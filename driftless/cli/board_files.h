// SPDX-License-Identifier: Apache-2.0
// Boards from files and data-set folders, and what a model needs to be asked about them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "driftless/store/checkpoint.h"
#include "driftless/task/arc/grid.h"
#include "driftless/task/table.h"

namespace driftless::cli {

/// Where boards come from.
struct BoardSource {
  /// A file of the task, a data-set folder as TRM builds them or the folder of one of its splits,
  /// or "-" for standard input.
  std::string path;
  std::string split = "test";  ///< of a data-set folder
  int64_t limit = 0;           ///< only the first so many boards (ARC: tasks); 0: all
};

/// The task that a file or folder looks like: JSON is ARC, a folder goes by its vocabulary, text
/// with walls is a maze, anything else a Sudoku. Throws what reading throws.
const task::Task& guess_task(const BoardSource& source);

/// The boards as the file has them. Throws what the readers throw.
std::vector<task::Example> read_boards(const task::Task& task, const BoardSource& source);

/// ARC tasks of a JSON file, a folder of JSON files, or the test inputs of a data-set folder.
std::vector<task::arc::Puzzle> read_arc_puzzles(const BoardSource& source);

/// How ARC tasks become boards for a model.
struct ArcOptions {
  std::string identifiers;  ///< JSON list of names; "": of the data-set folder or beside the model
  int64_t variants = 0;     ///< see task::arc::RowOptions
  uint64_t seed = 0;        ///< of the variants for a model without a puzzle table
};

struct ArcBoards {
  std::vector<task::arc::Puzzle> puzzles;
  std::vector<task::Example> rows;
  /// Tasks that the model's puzzle table does not have; they have no rows.
  std::vector<std::string> strangers;
};

/// Throws BadFile when the list of names does not fit the model's puzzle table, InvalidArgument
/// when a grid does not fit its canvas or the model knows none of the tasks.
ArcBoards read_arc_boards(const store::Checkpoint& checkpoint, const std::filesystem::path& model,
                          const BoardSource& source, const ArcOptions& options);

}  // namespace driftless::cli
