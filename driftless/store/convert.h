// SPDX-License-Identifier: Apache-2.0
// Any file that the project reads, turned into safetensors.
#pragma once

#include <filesystem>

#include "driftless/store/checkpoint.h"
#include "driftless/store/infer.h"

namespace driftless::store {

/// A model from a safetensors file (with or without its configuration) or a PyTorch archive, with
/// all_config.yaml from the same folder where present. What the user gives wins over the file's own
/// configuration, that over all_config.yaml. The metadata of a PyTorch model says which weights it
/// took. Throws Io, BadFile, BadConfig, Unsupported or Numeric.
Checkpoint import_model(const std::filesystem::path& path, const ImportOptions& options);

enum class ConvertedKind { Model, Array, Dataset };

/// Writes IN as safetensors to OUT: a model with its configuration; an npy file as one tensor under
/// the file's stem; a data-set folder as the tensors SPLIT.inputs, SPLIT.labels,
/// SPLIT.puzzle_identifiers, SPLIT.puzzle_indices and SPLIT.group_indices of its splits. `weights`
/// is the element type of a model's tensors. Throws what import_model and the readers throw.
ConvertedKind convert(const std::filesystem::path& in, const std::filesystem::path& out,
                      const ImportOptions& options, DType weights = DType::F32);

}  // namespace driftless::store
