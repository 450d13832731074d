// SPDX-License-Identifier: Apache-2.0
// "-" in the place of a file to write: standard output.
#pragma once

#include <cstddef>
#include <cstdio>
#include <span>
#include <string>
#include <string_view>

#include "driftless/base/files/standard_input.h"

namespace driftless::cli {

/// Writes a file as write_file_atomic does, or to standard output; "" is no file. Throws Io.
void write_output(const std::string& path, std::span<const std::byte> bytes);
void write_output(const std::string& path, std::string_view text);

/// Where to print what is said beside such an output: stderr where that takes standard output.
std::FILE* stream_beside(const std::string& output);

}  // namespace driftless::cli
