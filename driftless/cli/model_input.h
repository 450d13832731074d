// SPDX-License-Identifier: Apache-2.0
// What eval and solve share: a model, its task and boards that fit it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "driftless/reason/reasoner.h"
#include "driftless/store/packed_model.h"
#include "driftless/task/table.h"

namespace driftless::cli {

/// The bundled models, float and packed. Throw what data_folder throws.
std::filesystem::path default_model();
std::filesystem::path default_packed_model();

/// A model file: a checkpoint, or a packed model, whose checkpoint then has a configuration only.
struct ModelFile {
  store::Checkpoint checkpoint;
  std::optional<store::PackedModel> packed{};
};

/// Throws what store::load_checkpoint and store::load_packed throw.
ModelFile load_model(const std::filesystem::path& path);

/// A float checkpoint. Throws InvalidArgument, besides, for a packed model.
store::Checkpoint load_float_model(const std::filesystem::path& path);

/// The task that the model was trained for. Throws Unsupported when it is none of ours.
const task::Task& task_of(const store::Checkpoint& checkpoint);

/// Throws BadFile when the boards have another number of cells than the model or name a row that
/// its puzzle table does not have.
void require_fits(const store::Checkpoint& checkpoint, std::span<const task::Example> examples,
                  const std::string& where);

/// As many as the machine runs at once.
int64_t default_threads();

}  // namespace driftless::cli
