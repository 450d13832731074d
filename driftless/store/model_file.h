// SPDX-License-Identifier: Apache-2.0
// A model file of any kind: a checkpoint or a packed model of this project, or what other code
// saved, which is converted in memory.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "driftless/store/checkpoint.h"
#include "driftless/store/packed_model.h"
#include "driftless/store/torch/infer.h"

namespace driftless::store {

/// A model from elsewhere and where its parts come from.
struct ImportedModel {
  Checkpoint checkpoint;
  std::string weights{};               ///< "averaged (ema.shadow)"
  std::string configuration{};         ///< the file that it was read from
  std::vector<std::string> assumed{};  ///< see Inferred
};

/// A model from a safetensors file (with or without its configuration) or a PyTorch archive, with
/// all_config.yaml from the same folder where present. What the user gives wins over the file's own
/// configuration, that over all_config.yaml. The metadata of a PyTorch model says which weights it
/// took. Throws Io, BadFile, BadConfig, Unsupported or Numeric.
ImportedModel import_model(const std::filesystem::path& path, const ImportOptions& options);

/// One line of what was found: {"task", "sudoku"}.
struct Finding {
  std::string what;
  std::string text;
};

/// Architecture, sizes, recursion, task, weights, configuration and what was assumed.
std::vector<Finding> describe(const ImportedModel& model);

/// A packed model's checkpoint has a configuration only.
struct ModelFile {
  Checkpoint checkpoint;
  std::optional<PackedModel> packed{};
  std::vector<Finding> found{};  ///< empty where the file carries its own configuration
};

/// Throws what load_packed, load_checkpoint and import_model throw.
ModelFile open_model(const std::filesystem::path& path);

}  // namespace driftless::store
