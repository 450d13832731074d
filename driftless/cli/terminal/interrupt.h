// SPDX-License-Identifier: Apache-2.0
// Ctrl-C or SIGTERM during long work: the work ends at the next safe point and says how far it
// came.
#pragma once

#include <csignal>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace driftless::cli {

/// What a shell expects of a program that a signal ended, plus the signal.
inline constexpr int kSignalExit = 128;

/// Says where the work stopped; main prints it and exits with the code.
class Interrupted : public std::runtime_error {
 public:
  explicit Interrupted(const std::string& message);
  [[nodiscard]] int exit_code() const { return exit_code_; }

 private:
  int exit_code_;
};

/// While it lives, the first SIGINT or SIGTERM is noted and the second one ends the program at
/// once. A noted signal waits a second for a safe point: files are written under other names first,
/// so that an end at any time leaves them whole.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();  // what the signals did before, they do again
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

  /// From here on signals wait as long as it takes, for there is something to save.
  void be_patient();

 private:
  void handle(int signal, void (*handler)(int));

  std::vector<std::pair<int, struct sigaction>> before_;
};

/// The signal that came since the guard was made; 0 for none and without a guard.
int caught_signal();
inline bool was_interrupted() { return caught_signal() != 0; }

}  // namespace driftless::cli
