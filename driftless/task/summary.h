// SPDX-License-Identifier: Apache-2.0
// Lines that tell what a file of boards holds.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "driftless/task/task.h"

namespace driftless::task {

/// "several solutions: 3".
std::string told(const std::string& what, int64_t count);

/// "boards       3".
std::string counted(const char* name, int64_t count);

/// "rating       mean 2.31, 0 to 17". Requires a value.
std::string spread(const char* name, const std::vector<int64_t>& values);

/// Throws BadFile, starting with `where`, for the first board whose label is no answer.
void require_answers(std::span<const Example> examples, const std::string& where,
                     bool (*is_answer)(const Example& example));

}  // namespace driftless::task
