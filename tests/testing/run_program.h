// SPDX-License-Identifier: Apache-2.0
// Runs a program as a user would and keeps what it printed.
#pragma once

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include <sys/wait.h>

#include "tests/testing/temp_dir.h"

namespace driftless::testing {

struct Outcome {
  int exit_code;
  std::string out;
  std::string err;
};

inline std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// `command` goes through the shell.
inline Outcome run_program(const std::string& command) {
  const TempDir dir;
  const auto out = dir.path() / "out";
  const auto err = dir.path() / "err";
  const int status = std::system((command + " >" + out.string() + " 2>" + err.string()).c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, text_of(out), text_of(err)};
}

}  // namespace driftless::testing
