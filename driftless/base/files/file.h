// SPDX-License-Identifier: Apache-2.0
// Whole files in and out. Output appears under its name complete or not at all.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

namespace driftless {

/// The bytes of a regular file; 16 MiB at most where it states no size. Throws Io as InputFile.
std::vector<std::byte> read_file(const std::filesystem::path& path);

/// What a symbolic link leads to in the end, which need not exist; any other path as it is. Throws
/// Io where links lead in a circle.
std::filesystem::path follow_links(const std::filesystem::path& path);

/// Writes to a temporary name in the same folder, flushes to disk, then renames over `path`, or
/// over what it leads to where it is a symbolic link. A file that is there keeps its mode and, as
/// far as the system lets us, its owner; one that may not be written is not replaced. On any
/// failure throws Io, leaves the previous file as it was and removes the temporary; one that a
/// killed program left behind goes with the next write. A device or pipe is written into instead.
void write_file_atomic(const std::filesystem::path& path, std::span<const std::byte> bytes);
void write_file_atomic(const std::filesystem::path& path, std::string_view text);

}  // namespace driftless
