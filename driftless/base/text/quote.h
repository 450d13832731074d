// SPDX-License-Identifier: Apache-2.0
// Text from a file, made safe for a one-line message.
#pragma once

#include <string>
#include <string_view>

namespace driftless {

/// The text in single quotes on one line: bytes outside printable ASCII become \xNN, and what goes
/// beyond 80 characters is cut with an ellipsis.
std::string quote(std::string_view text);

}  // namespace driftless
