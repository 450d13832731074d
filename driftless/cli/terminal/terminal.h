// SPDX-License-Identifier: Apache-2.0
// What the terminal at the other end can show.
#pragma once

#include <cstdint>

#include "driftless/cli/flags/flags.h"

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

/// --no-color, of every verb that has colors.
struct ColorFlag {
  bool is_off = false;
};
void add_color_flag(const Verb& verb, ColorFlag& flag);

/// Plain where the flag or NO_COLOR (https://no-color.org: set, and not empty) asks for that, and
/// where stdout is no terminal that could show more.
Ink find_ink(const ColorFlag& flag, const Terminal& terminal);

}  // namespace driftless::cli
