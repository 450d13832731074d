// SPDX-License-Identifier: Apache-2.0
// What the terminal at the other end can show.
#pragma once

#include <cstdint>

namespace driftless::cli {

enum class Ink { Plain, Colored };

struct Terminal {
  bool is_live = false;  ///< stdout is a terminal that can be redrawn
  bool has_utf8 = false;
  int64_t rows = 24;
  int64_t columns = 80;
};

/// Of stdout and the environment (TERM, LC_ALL, LC_CTYPE, LANG).
Terminal find_terminal();

/// Colored unless the environment sets NO_COLOR to anything (https://no-color.org).
Ink wanted_ink();

}  // namespace driftless::cli
