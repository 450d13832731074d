// SPDX-License-Identifier: Apache-2.0
// "-" in the place of a file to write: standard output.
#pragma once

#include <cstddef>
#include <cstdio>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "driftless/base/standard_input.h"

namespace driftless::cli {

/// Writes a file as write_file_atomic does, or to standard output; "" is no file. Throws Io.
void write_output(const std::string& path, std::span<const std::byte> bytes);
void write_output(const std::string& path, std::string_view text);

/// Where to print what is said beside such an output: stderr where that takes standard output.
std::FILE* stream_beside(const std::string& output);

/// The arguments of a program, the verb first, with a value for every --json: "-" where no FILE
/// follows. A word that starts with a dash is none. Of solve and ladder, whose --json was once a
/// switch, neither is a board, nor a file that is there under another name than *.json or *.jsonl:
/// boards or a model, not to be written over.
std::vector<std::string> with_json_values(std::vector<std::string> arguments);

}  // namespace driftless::cli
