// SPDX-License-Identifier: Apache-2.0
// The configuration of a checkpoint that does not carry one in full: what shapes tell, what the
// training configuration says, and what the user gives explicitly.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "driftless/model/config.h"
#include "driftless/store/checkpoint.h"
#include "driftless/store/torch/yaml.h"

namespace driftless::store {

/// What the user gives; it wins over every other source. Each is a flag of driftless convert:
/// --config, --arch, --task, --heads, --h-cycles, --l-cycles, --positions, --steps, --cells,
/// --prefix-rows.
struct ImportOptions {
  std::filesystem::path config{};  // in place of the file's own and of all_config.yaml beside it
  std::optional<model::Arch> arch;
  std::optional<std::string> task;
  std::optional<int64_t> heads;
  std::optional<int64_t> h_cycles;
  std::optional<int64_t> l_cycles;
  std::optional<model::Positions> positions;
  std::optional<int64_t> steps;
  std::optional<int64_t> cells;
  std::optional<int64_t> prefix_rows;
};

/// Overwrites the fields that the user gave.
void apply(const ImportOptions& options, model::ModelConfig& config);

struct Inferred {
  model::ModelConfig config;
  /// What no source tells and the published models have, each with the flag that says otherwise.
  std::vector<std::string> assumed{};
};

/// Puts a valid configuration together. `training` holds the keys of all_config.yaml
/// ("arch.H_cycles"). Throws BadConfig where values are in none of the sources, naming the flags
/// that give them, or where the training configuration contradicts the shapes; Unsupported for an
/// architecture outside the table.
Inferred infer_config(const TensorMap& tensors, const FlatConfig& training,
                      const ImportOptions& options, std::string_view where);

}  // namespace driftless::store
