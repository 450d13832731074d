// SPDX-License-Identifier: Apache-2.0
// A data-set folder with one split, as TRM's builders write it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "driftless/base/files/file.h"
#include "driftless/task/table.h"

#include "tests/store/npy_bytes.h"

namespace driftless::cli_testing {

/// FOLDER/SPLIT with one puzzle per row, and FOLDER/identifiers.json.
inline void write_dataset(const std::filesystem::path& folder, std::span<const task::Example> rows,
                          int64_t vocab_size, const std::vector<std::string>& names,
                          const std::string& split = "test") {
  using testing::little_endian;
  const size_t cells = rows.front().input.size();
  std::string inputs, labels, ids, offsets;
  for (const task::Example& row : rows) {
    offsets += little_endian(static_cast<int32_t>(inputs.size() / cells));
    inputs.append(row.input.begin(), row.input.end());
    labels.append(row.label.begin(), row.label.end());
    ids += little_endian(static_cast<int32_t>(row.puzzle));
  }
  const auto count = static_cast<int32_t>(rows.size());
  const std::string n = std::to_string(count);
  const std::string boards = "(" + n + ", " + std::to_string(cells) + ")";
  std::filesystem::create_directories(folder / split);
  const auto npy = [&](const char* name, const char* type, const std::string& shape,
                       const std::string& data) {
    write_file_atomic(folder / split / (std::string("all__") + name + ".npy"),
                      store::testing::npy_bytes(type, shape, data));
  };
  npy("inputs", "|u1", boards, inputs);
  npy("labels", "|u1", boards, labels);
  npy("puzzle_identifiers", "<i4", "(" + n + ",)", ids);
  npy("puzzle_indices", "<i4", "(" + std::to_string(count + 1) + ",)",
      offsets + little_endian(count));
  npy("group_indices", "<i4", "(2,)", little_endian(int32_t{0}) + little_endian(count));
  const nlohmann::json facts = {{"pad_id", 0},
                                {"ignore_label_id", 0},
                                {"blank_identifier_id", 0},
                                {"vocab_size", vocab_size},
                                {"seq_len", cells},
                                {"num_puzzle_identifiers", names.size()},
                                {"total_groups", 1},
                                {"mean_puzzle_examples", 1.0},
                                {"sets", {"all"}}};
  write_file_atomic(folder / split / "dataset.json", facts.dump());
  write_file_atomic(folder / "identifiers.json", nlohmann::json(names).dump());
}

}  // namespace driftless::cli_testing
