// SPDX-License-Identifier: Apache-2.0
// Runs a program as a user at a terminal sees it, and shows what stays on the screen.
#pragma once

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

namespace driftless::testing {

struct TerminalRun {
  int exit_code;
  std::string output;  ///< stdout and stderr as they arrive
};

struct TerminalOptions {
  uint16_t rows = 24;
  uint16_t columns = 80;
  /// Presses Ctrl-C when the output first holds this text; "": never.
  std::string interrupt_at = {};
};

/// `command` may start with settings of the environment. The program takes the shell's place, which
/// would otherwise die of the same Ctrl-C.
inline TerminalRun run_in_terminal(const std::string& command, const TerminalOptions& options) {
  const winsize size{options.rows, options.columns, 0, 0};
  int terminal = -1;
  const pid_t child = ::forkpty(&terminal, nullptr, nullptr, &size);
  if (child < 0) throw std::runtime_error("no pseudo-terminal");
  if (child == 0) {
    ::execl("/bin/sh", "sh", "-c", ("exec env " + command).c_str(), nullptr);
    ::_exit(127);
  }
  TerminalRun run{-1, {}};
  bool is_interrupted = options.interrupt_at.empty();
  char buffer[4096];
  // The read fails when the last process at the terminal ends.
  for (ssize_t got = 0; (got = ::read(terminal, buffer, sizeof(buffer))) > 0;) {
    run.output.append(buffer, static_cast<size_t>(got));
    if (!is_interrupted && run.output.find(options.interrupt_at) != std::string::npos)
      is_interrupted = ::write(terminal, "\x03", 1) == 1;
  }
  ::close(terminal);
  int status = 0;
  ::waitpid(child, &status, 0);
  if (WIFEXITED(status)) run.exit_code = WEXITSTATUS(status);
  return run;
}

/// A test that needs a terminal is skipped where none can be opened.
class TerminalTest : public ::testing::Test {
 protected:
  void SetUp() override {
    int terminal = -1;
    int other_end = -1;
    if (::openpty(&terminal, &other_end, nullptr, nullptr, nullptr) != 0)
      GTEST_SKIP() << "no pseudo-terminal can be opened";
    ::close(terminal);
    ::close(other_end);
  }
};

/// The lines left on a screen that is tall and wide enough, without colors. Knows carriage return,
/// line feed, cursor up and erasing below; both of those are expected at the start of a line.
inline std::vector<std::string> screen_of(const std::string& output) {
  std::vector<std::string> lines(1);
  size_t row = 0;
  for (size_t i = 0; i < output.size(); ++i) {
    if (output[i] == '\n') {
      if (++row == lines.size()) lines.emplace_back();
    } else if (output[i] == '\x1b') {
      const size_t end = output.find_first_not_of("0123456789;", i + 2);
      const std::string number = output.substr(i + 2, end - i - 2);
      if (output[end] == 'A') row -= std::min(row, static_cast<size_t>(std::stoul(number)));
      if (output[end] == 'J') lines.resize(row + 1);
      if (output[end] == 'J' || output[end] == 'K') lines[row].clear();
      i = end;
    } else if (output[i] != '\r') {
      lines[row] += output[i];
    }
  }
  return lines;
}

}  // namespace driftless::testing
