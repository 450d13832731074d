// SPDX-License-Identifier: Apache-2.0
// Ctrl-C during long work: the work ends at the next safe point and says how far it came.
#pragma once

#include <csignal>
#include <initializer_list>
#include <stdexcept>
#include <utility>
#include <vector>

namespace driftless::cli {

/// What a shell expects of a program that a signal ended, plus the signal.
inline constexpr int kSignalExit = 128;

/// Says where the work stopped; main prints it and exits as after SIGINT.
class Interrupted : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// While it lives, the first of the signals is noted and the second one ends the program at once.
class InterruptGuard {
 public:
  explicit InterruptGuard(std::initializer_list<int> signals = {SIGINT});
  ~InterruptGuard();  // what the signals did before, they do again
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

 private:
  std::vector<std::pair<int, struct sigaction>> before_;
};

/// The signal that came since the guard was made; 0 for none and without a guard.
int caught_signal();
inline bool was_interrupted() { return caught_signal() != 0; }

}  // namespace driftless::cli
