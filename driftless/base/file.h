// SPDX-License-Identifier: Apache-2.0
// Whole files in and out. Output appears under its name complete or not at all.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

namespace driftless {

/// The bytes of a regular file. Throws Io when it is missing, not a file, or unreadable.
std::vector<std::byte> read_file(const std::filesystem::path& path);

/// Writes to a temporary name in the same folder, flushes to disk, then renames over `path`. On any
/// failure throws Io, leaves the previous file as it was and removes the temporary.
void write_file_atomic(const std::filesystem::path& path, std::span<const std::byte> bytes);
void write_file_atomic(const std::filesystem::path& path, std::string_view text);

}  // namespace driftless
