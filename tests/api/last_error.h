// SPDX-License-Identifier: Apache-2.0
// What the last call of the C interface that failed in this thread has said.
#pragma once

#include <string_view>

#include "driftless/api/driftless_c.h"

namespace driftless::testing {

inline bool last_error_has(std::string_view word) {
  return std::string_view(driftless_last_error()).find(word) != std::string_view::npos;
}

}  // namespace driftless::testing
