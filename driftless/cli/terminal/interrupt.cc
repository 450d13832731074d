// SPDX-License-Identifier: Apache-2.0
#include "driftless/cli/terminal/interrupt.h"

#include <string_view>

#include <unistd.h>

namespace driftless::cli {
namespace {

// A signal handler can reach nothing but a global of this type.
volatile std::sig_atomic_t signal_seen = 0;

void note_signal(int signal) { signal_seen = signal; }

void note_signal_and_time(int signal) {
  note_signal(signal);
  ::alarm(1);
}

void give_up(int) {
  constexpr std::string_view kMessage = "driftless: interrupted\n";
  static_cast<void>(!::write(STDERR_FILENO, kMessage.data(), kMessage.size()));
  ::_exit(kSignalExit + static_cast<int>(signal_seen));
}

using SignalAction = struct sigaction;
constexpr int kSignals[] = {SIGINT, SIGTERM};

void set_handler(int signal, void (*handler)(int), SignalAction* before) {
  SignalAction action{};
  action.sa_handler = handler;
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
  ::sigaction(signal, &action, before);
}

}  // namespace

Interrupted::Interrupted(const std::string& message)
    : std::runtime_error(message), exit_code_(kSignalExit + caught_signal()) {}

InterruptGuard::InterruptGuard() {
  signal_seen = 0;
  handle(SIGALRM, give_up);
  for (const int signal : kSignals) handle(signal, note_signal_and_time);
}

void InterruptGuard::be_patient() {
  for (const int signal : kSignals) set_handler(signal, note_signal, nullptr);
  ::alarm(0);
}

InterruptGuard::~InterruptGuard() {
  while (!before_.empty()) {  // the alarm last, when nothing sets it any more
    if (before_.back().first == SIGALRM) ::alarm(0);
    sigaction(before_.back().first, &before_.back().second, nullptr);
    before_.pop_back();
  }
  signal_seen = 0;
}

void InterruptGuard::handle(int signal, void (*handler)(int)) {
  before_.emplace_back(signal, SignalAction{});
  set_handler(signal, handler, &before_.back().second);
}

int caught_signal() { return signal_seen; }

}  // namespace driftless::cli
