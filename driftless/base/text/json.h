// SPDX-License-Identifier: Apache-2.0
// JSON from files and metadata, read strictly: whole text, no key twice in an object, bounded
// nesting.
#pragma once

#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "driftless/base/error.h"

namespace driftless {

/// Deepest nesting of arrays and objects that parse_json accepts.
inline constexpr int kMaxJsonDepth = 64;

/// The value of `text`; `where` starts every message. Throws `code` on malformed text, a repeated
/// key or nesting beyond kMaxJsonDepth.
nlohmann::json parse_json(std::string_view text, std::string_view where,
                          ErrorCode code = ErrorCode::BadFile);

}  // namespace driftless
