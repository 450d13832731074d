// SPDX-License-Identifier: Apache-2.0
// What scripts/build_web made for browsers, with a model in it.
#pragma once

#include <string>

namespace driftless::cli {

/// page.html, the page, or engine.json, what a report needs to think. Throws Unsupported where they
/// are not built, and for a model that they cannot run or show.
std::string web_file(const char* name, const std::string& model);

}  // namespace driftless::cli
