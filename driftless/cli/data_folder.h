// SPDX-License-Identifier: Apache-2.0
// Where the models and recipes that come with the program are.
#pragma once

#include <filesystem>
#include <string>

namespace driftless::cli {

/// The folder `name`, "models" or "recipes", of DRIFTLESS_DATA where that is set, otherwise of
/// ../share/driftless as seen from the program, installed or in its build tree. Throws Io with the
/// place where it looked.
std::filesystem::path data_folder(const char* name);

/// The path itself or, where it has nothing and starts with models/ or recipes/, the bundled file
/// of that name if there is one: examples of the help work in every folder.
std::string or_bundled(const std::string& path);

}  // namespace driftless::cli
