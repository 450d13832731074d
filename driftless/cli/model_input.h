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
#include "driftless/store/model_file.h"
#include "driftless/task/table.h"

namespace driftless::cli {

/// The bundled models, float and packed. Throw what data_folder throws.
std::filesystem::path default_model();
std::filesystem::path default_packed_model();

using store::ModelFile;

/// A model file of any kind. What was found out about one from elsewhere goes to stderr. Throws
/// what store::open_model throws.
ModelFile load_model(const std::filesystem::path& path);

/// A float checkpoint. Throws InvalidArgument, besides, for a packed model.
store::Checkpoint load_float_model(const std::filesystem::path& path);

/// The task that the model was trained for.
const task::Task& task_of(const store::Checkpoint& checkpoint);

/// Throws BadFile when the boards have another number of cells than the model or name a row that
/// its puzzle table does not have.
void require_fits(const store::Checkpoint& checkpoint, std::span<const task::Example> examples,
                  const std::string& where);

/// As many as the machine runs at once.
int64_t default_threads();

}  // namespace driftless::cli
