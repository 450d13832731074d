// SPDX-License-Identifier: Apache-2.0
// The training configuration of a run (all_config.yaml, flattened), read with types.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "driftless/model/presets.h"
#include "driftless/store/torch/yaml.h"

namespace driftless::store {

/// Looks at `values`. Keys are those below `arch`. A value of the wrong type is BadConfig, with
/// `where` and the key.
class TrainingConfig {
 public:
  TrainingConfig(const FlatConfig& values, std::string_view where)
      : values_(values), where_(where) {}

  [[nodiscard]] bool is_empty() const { return values_.empty(); }

  /// Nothing where the key is absent or null.
  [[nodiscard]] std::optional<std::string> text(const std::string& key) const;
  [[nodiscard]] std::optional<int64_t> integer(const std::string& key) const;
  [[nodiscard]] std::optional<double> number(const std::string& key) const;
  [[nodiscard]] std::optional<bool> flag(const std::string& key) const;
  /// The key is there, without a value.
  [[nodiscard]] bool is_null(const std::string& key) const;

  /// arch.name without its class: "recursive_reasoning.trm"; empty where it is absent.
  [[nodiscard]] std::string module() const;

  /// The folder of boards that the run was given; empty where no key says.
  [[nodiscard]] std::string data_path() const;
  /// Cells of a board where the folder's name has a size: 900 for "maze-30x30-hard-1k".
  [[nodiscard]] std::optional<int64_t> cells_of_data() const;
  /// Those of the task that the folder's name names, or null.
  [[nodiscard]] const model::PublishedBoards* boards_of_data() const;

  /// Overwrites the halting fields that a key says something about.
  void read_halting(model::ModelConfig& config) const;

 private:
  const FlatConfig& values_;
  std::string_view where_;
};

}  // namespace driftless::store
