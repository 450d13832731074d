// SPDX-License-Identifier: Apache-2.0
// Any file that the project reads, as safetensors.
#pragma once

#include <filesystem>
#include <optional>

#include "driftless/store/model_file.h"

namespace driftless::store {

enum class ConvertedKind { Model, Array, Dataset };

struct Converted {
  ConvertedKind kind;
  std::vector<Finding> found{};  ///< about a model
};

/// Writes IN as safetensors to OUT: a model with its configuration; an npy file as one tensor under
/// the file's stem; a data-set folder as the tensors SPLIT.inputs, SPLIT.labels,
/// SPLIT.puzzle_identifiers, SPLIT.puzzle_indices and SPLIT.group_indices of its splits. `weights`
/// is the element type of a model's tensors. Throws what import_model and the readers throw.
Converted convert(const std::filesystem::path& in, const std::filesystem::path& out,
                  const ImportOptions& options, DType weights = DType::F32);

}  // namespace driftless::store
