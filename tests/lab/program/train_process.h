// SPDX-License-Identifier: Apache-2.0
// The driftless program running beside a test, to be signalled and killed, and a recipe for it.
#pragma once

#include <chrono>
#include <csignal>
#include <filesystem>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/testing/run_program.h"
#include "tests/testing/temp_dir.h"

namespace driftless::lab {

/// A run of a second that saves once a second.
inline constexpr const char* kProgramRecipe = R"(
[[task.pool]]
generate = 100
seed = 1
extra_clues = 4
[model]
vocab_size = 6
seq_len = 16
hidden_size = 32
num_layers = 1
expansion = 1
[recursion]
h_cycles = 1
l_cycles = 1
halt_max_steps = 4
[train]
seed = 5
batch = 8
lr = 1e-3
warmup_steps = 10
steps = 60
[eval]
generate = 20
seed = 2
extra_clues = 4
[output]
log_every = 5
checkpoint_every = 1
)";

class TrainProcess {
 public:
  /// Adds --resume where asked; `environment` are settings such as "NAME=value".
  TrainProcess(std::vector<std::string> arguments, bool is_resumed,
               std::vector<std::string> environment = {}) {
    arguments.insert(arguments.begin(), DRIFTLESS_PROGRAM);
    if (is_resumed) arguments.emplace_back("--resume");
    const std::string log = (dir_.path() / "err").string();
    pid_ = ::fork();
    if (pid_ != 0) return;
    std::vector<char*> argv;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    // One thread: the products are too small for two, and tests run side by side.
    environment.insert(environment.end(), {"OMP_NUM_THREADS=1", "OPENBLAS_NUM_THREADS=1"});
    for (std::string& setting : environment) ::putenv(setting.data());
    const int file = ::open(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    ::dup2(file, STDERR_FILENO);
    ::dup2(file, STDOUT_FILENO);
    ::execv(DRIFTLESS_PROGRAM, argv.data());
    ::_exit(127);
  }
  ~TrainProcess() {
    if (!is_over_) {
      ::kill(pid_, SIGKILL);
      ::waitpid(pid_, nullptr, 0);
    }
  }
  TrainProcess(const TrainProcess&) = delete;
  TrainProcess& operator=(const TrainProcess&) = delete;

  /// SIGKILL as soon as `is_time` says so; nothing where the program ends before.
  template <class Condition>
  void kill_when(Condition is_time) {
    while (!is_time()) {
      if (has_ended()) return;
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
    ::kill(pid_, SIGKILL);
    exit_code();
  }

  void send(int signal) const { ::kill(pid_, signal); }

  /// Returns when the file is there or the program has ended.
  void wait_for_file(const std::filesystem::path& path) {
    while (!std::filesystem::exists(path) && !has_ended())
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }

  /// Waits for the end; -1 after a signal.
  int exit_code() {
    if (!is_over_) ::waitpid(pid_, &status_, 0);
    is_over_ = true;
    return WIFEXITED(status_) ? WEXITSTATUS(status_) : -1;
  }
  [[nodiscard]] std::string err() const { return driftless::testing::text_of(dir_.path() / "err"); }

 private:
  bool has_ended() {
    if (!is_over_) is_over_ = ::waitpid(pid_, &status_, WNOHANG) == pid_;
    return is_over_;
  }

  driftless::testing::TempDir dir_;
  pid_t pid_ = 0;
  int status_ = 0;
  bool is_over_ = false;
};

}  // namespace driftless::lab
