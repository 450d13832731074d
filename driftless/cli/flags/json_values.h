// SPDX-License-Identifier: Apache-2.0
// --json, whose value may be left out.
#pragma once

#include <string>
#include <vector>

namespace driftless::cli {

/// The arguments of a program, the verb first, with a value for every --json: "-" where no FILE
/// follows. A word that starts with a dash is none. Of solve and ladder, whose --json was once a
/// switch, neither is a board, nor a file that is there under another name than *.json or *.jsonl:
/// boards or a model, not to be written over.
std::vector<std::string> with_json_values(std::vector<std::string> arguments);

}  // namespace driftless::cli
