// SPDX-License-Identifier: Apache-2.0
// "-" in the place of a file to read: standard input.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace driftless {

inline constexpr std::string_view kStandardStream = "-";
inline constexpr const char* kStandardInput = "standard input";  ///< in messages

/// All of standard input; the first call reads it.
const std::string& standard_input();

/// The bytes of a file, or of standard input. Throws Io.
std::vector<std::byte> read_input(const std::string& path);

}  // namespace driftless
