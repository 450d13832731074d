// SPDX-License-Identifier: Apache-2.0
// Data-set folders as TRM, HRM and EqR build them: FOLDER/SPLIT/dataset.json with
// all__{inputs,labels,puzzle_identifiers,puzzle_indices,group_indices}.npy, and
// FOLDER/identifiers.json.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace driftless::store {

/// One split. A group is an original puzzle, its puzzles are augmentations of it, and a puzzle's
/// examples are rows of the two boards.
struct PuzzleDataset {
  int64_t pad_id = 0;
  std::optional<int64_t> ignore_label_id;  // label that does not count
  int64_t blank_identifier_id = 0;
  int64_t vocab_size = 0;
  int64_t seq_len = 0;
  int64_t num_puzzle_identifiers = 0;
  std::vector<uint8_t> inputs;              // [rows, seq_len], tokens below vocab_size
  std::vector<uint8_t> labels;              // same
  std::vector<int64_t> puzzle_identifiers;  // [puzzles], below num_puzzle_identifiers
  std::vector<int64_t> puzzle_indices;      // [puzzles + 1], first row of each puzzle, then the end
  std::vector<int64_t> group_indices;    // [groups + 1], first puzzle of each group, then the end
  std::vector<std::string> identifiers;  // name of each id; empty where the file is absent

  [[nodiscard]] int64_t row_count() const { return puzzle_indices.back(); }
};

/// Reads FOLDER/SPLIT and checks every token, id and index. Throws Io, BadFile or Unsupported
/// naming the file.
PuzzleDataset read_dataset(const std::filesystem::path& folder, std::string_view split);

/// Writes FOLDER/SPLIT, and FOLDER/identifiers.json where the set has names; read_dataset reads it
/// back. Throws Io.
void write_dataset(const std::filesystem::path& folder, std::string_view split,
                   const PuzzleDataset& set);

/// Whether the folder has a split that read_dataset could read.
bool is_dataset(const std::filesystem::path& folder);

/// One example of a set, with its puzzle. Looks at the set.
struct DatasetRow {
  int64_t identifier = 0;
  std::string_view name;  ///< of the identifier; empty where the set has no names
  std::span<const uint8_t> input;
  std::span<const uint8_t> label;
};
std::vector<DatasetRow> rows_of(const PuzzleDataset& set);

}  // namespace driftless::store
