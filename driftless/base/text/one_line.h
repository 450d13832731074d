// SPDX-License-Identifier: Apache-2.0
// A whole message, made safe for a terminal.
#pragma once

#include <string>
#include <string_view>

namespace driftless {

/// The message on one line and one screen: control characters become \xNN, and of a long text the
/// middle is left out.
std::string one_line(std::string_view text);

}  // namespace driftless
