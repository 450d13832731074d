// SPDX-License-Identifier: Apache-2.0
// Names of C that a model may have.
#pragma once

#include <string>
#include <string_view>

namespace driftless::exporter {

/// Letters and digits of a file's name, others as '_': "sudoku-small.safetensors" is sudoku_small.
std::string identifier_of(std::string_view file_name);

/// Throws InvalidArgument for what is no identifier, is reserved, or is a word of the exported
/// code.
void require_identifier(const std::string& name);

}  // namespace driftless::exporter
