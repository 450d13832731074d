// SPDX-License-Identifier: Apache-2.0
#include "driftless/cli/terminal/interrupt.h"

namespace driftless::cli {
namespace {

// A signal handler can reach nothing but a global of this type.
volatile std::sig_atomic_t signal_seen = 0;

void note_signal(int signal) { signal_seen = signal; }

}  // namespace

InterruptGuard::InterruptGuard(std::initializer_list<int> signals) {
  signal_seen = 0;
  struct sigaction action {};
  action.sa_handler = note_signal;
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
  for (const int signal : signals) {
    before_.emplace_back(signal, action);
    sigaction(signal, &action, &before_.back().second);
  }
}

InterruptGuard::~InterruptGuard() {
  for (const auto& [signal, action] : before_) sigaction(signal, &action, nullptr);
  signal_seen = 0;
}

int caught_signal() { return signal_seen; }

}  // namespace driftless::cli
