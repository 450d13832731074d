// SPDX-License-Identifier: Apache-2.0
// A progress line on stderr, where that is a terminal; nothing anywhere else.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace driftless::cli {

class Progress {
 public:
  /// Shows 0 of the total at once.
  explicit Progress(int64_t total);
  ~Progress();  // takes the line away
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Shows `done` of the total, `note` and the time left at the pace so far, a few times a second
  /// at most.
  void show(int64_t done, const std::string& note);

 private:
  using Clock = std::chrono::steady_clock;
  void draw(int64_t done, const std::string& note) const;

  int64_t total_;
  bool is_visible_;
  Clock::time_point start_ = Clock::now();
  Clock::time_point last_ = start_;
};

/// "8 s", "3 min 20 s", "2 h 5 min".
std::string duration_text(double seconds);

}  // namespace driftless::cli
