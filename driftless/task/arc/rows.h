// SPDX-License-Identifier: Apache-2.0
// The boards that a model sees of ARC tasks: each test input under every variant that the model has
// a puzzle row for.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "driftless/task/arc/augment.h"
#include "driftless/task/arc/grid.h"
#include "driftless/task/table.h"

namespace driftless::task::arc {

/// Name of ids that stand for no puzzle.
inline constexpr std::string_view kBlankName = "<blank>";

/// Which rows of a puzzle table belong to a task: the list that the training set was made with, one
/// name per row, each the name of a task or of a variant of one.
class Identifiers {
 public:
  struct Entry {
    int64_t row = 0;
    Variant variant;
  };

  /// Throws BadFile with `where` when a name is malformed.
  Identifiers(std::span<const std::string> names, const std::string& where);

  /// The task as it is first, then by row. Empty for a task that the list does not have.
  [[nodiscard]] std::span<const Entry> of(const std::string& puzzle) const;

 private:
  std::map<std::string, std::vector<Entry>, std::less<>> entries_;
};

/// The list of a JSON file: an array of names. Throws Io or BadFile.
std::vector<std::string> read_identifiers(const std::filesystem::path& path);

struct RowOptions {
  int64_t side = kMaxSide;  ///< of the canvas
  int64_t variants = 0;     ///< at most so many for each test input; 0: all there are
};

/// One row for each test input and entry of its task: the variant's name, input, label (0 where the
/// output is unknown) and the puzzle row. Tasks without an entry give none. Throws InvalidArgument,
/// with the task's name, when a grid does not fit the canvas.
std::vector<Example> rows(std::span<const Puzzle> puzzles, const Identifiers& identifiers,
                          const RowOptions& options);

/// The same for a model without a puzzle table, with the task as it is and `options.variants` - 1
/// random variants of it (0 counts as 1).
std::vector<Example> rows(std::span<const Puzzle> puzzles, const RowOptions& options, Rng& rng);

/// The tasks that rows belong to, in order of appearance, with their test pairs only. An empty
/// label is an unknown output. Grids lie anywhere on their canvas. Throws InvalidArgument
/// on a malformed name or a canvas without a grid.
std::vector<Puzzle> puzzles_of(std::span<const Example> rows);

}  // namespace driftless::task::arc
