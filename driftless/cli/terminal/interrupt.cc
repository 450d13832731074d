// SPDX-License-Identifier: Apache-2.0
#include "driftless/cli/terminal/interrupt.h"

#include <csignal>

namespace driftless::cli {
namespace {

// A signal handler can reach nothing but a global of this type.
volatile std::sig_atomic_t interrupt_seen = 0;

void note_interrupt(int) { interrupt_seen = 1; }

}  // namespace

InterruptGuard::InterruptGuard() {
  interrupt_seen = 0;
  struct sigaction action {};
  action.sa_handler = note_interrupt;
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
  sigaction(SIGINT, &action, nullptr);
}

InterruptGuard::~InterruptGuard() {
  std::signal(SIGINT, SIG_DFL);
  interrupt_seen = 0;
}

bool was_interrupted() { return interrupt_seen != 0; }

}  // namespace driftless::cli
