// SPDX-License-Identifier: Apache-2.0
// Models as the command line names them. What was found out about one from elsewhere is said on
// stderr.
#pragma once

#include <filesystem>

#include "driftless/store/model_file.h"

namespace driftless::cli {

/// The bundled models, float and packed. Throw what data_folder throws.
std::filesystem::path default_model();
std::filesystem::path default_packed_model();

/// A model file of any kind. Throws what store::open_model throws.
store::ModelFile load_model(const std::filesystem::path& path);

/// A float checkpoint. Throws InvalidArgument, besides, for a packed model.
store::Checkpoint load_float_model(const std::filesystem::path& path);

}  // namespace driftless::cli
