// SPDX-License-Identifier: Apache-2.0
// Text files as a whole and by line.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace driftless {

/// Reads a file as text. Throws Io when it cannot be read, BadFile when it is compressed.
std::string read_text(const std::filesystem::path& path);

/// The lines of a text without their ends ("\n" or "\r\n"); empty lines at the end are dropped.
std::vector<std::string_view> lines_of(std::string_view text);

}  // namespace driftless
