// SPDX-License-Identifier: Apache-2.0
// Ctrl-C during long work: the work ends at the next safe point and says how far it came.
#pragma once

#include <stdexcept>

namespace driftless::cli {

/// What a shell expects of a program that SIGINT ended.
inline constexpr int kInterruptedExit = 130;

/// Says where the work stopped; main prints it and exits with kInterruptedExit.
class Interrupted : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// While it lives, the first SIGINT is noted and the second one ends the program at once.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;
};

/// Whether SIGINT came since the guard was made; false without one.
bool was_interrupted();

}  // namespace driftless::cli
