// SPDX-License-Identifier: Apache-2.0
#include "driftless/cli/terminal/terminal.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <string>
#include <string_view>

#include <sys/ioctl.h>
#include <unistd.h>

namespace driftless::cli {
namespace {

std::string environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// The first of the three that is set decides, as in the C library.
bool locale_has_utf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    std::string value = environment(name);
    if (value.empty()) continue;
    std::transform(value.begin(), value.end(), value.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return value.find("utf-8") != std::string::npos || value.find("utf8") != std::string::npos;
  }
  return false;
}

}  // namespace

Terminal find_terminal() {
  Terminal terminal;
  const std::string type = environment("TERM");
  terminal.is_live = isatty(STDOUT_FILENO) == 1 && !type.empty() && type != "dumb";
  terminal.has_utf8 = locale_has_utf8();
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0 && size.ws_col > 0) {
    terminal.rows = size.ws_row;
    terminal.columns = size.ws_col;
  }
  return terminal;
}

void add_color_flag(const Verb& verb, ColorFlag& flag) {
  verb.add_switch("--no-color", flag.is_off,
                  "no colors (nor with NO_COLOR set); a pipe gets none anyway");
}

Ink find_ink(const ColorFlag& flag, const Terminal& terminal) {
  const bool is_colored = terminal.is_live && !flag.is_off && environment("NO_COLOR").empty();
  return is_colored ? Ink::Colored : Ink::Plain;
}

}  // namespace driftless::cli
