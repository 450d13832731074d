// SPDX-License-Identifier: Apache-2.0
// TOML from recipes. A header, so that only those who read recipes need toml++.
#pragma once

#include <string_view>

#include <toml++/toml.h>

#include "driftless/base/error.h"

namespace driftless {

/// The table of `text`; `where` starts every message. Throws BadConfig with the line on malformed
/// text.
inline toml::table parse_toml(std::string_view text, std::string_view where) {
  try {
    return toml::parse(text);
  } catch (const toml::parse_error& error) {
    fail(ErrorCode::BadConfig, where, ":", error.source().begin.line, ": ", error.description());
  }
}

}  // namespace driftless
