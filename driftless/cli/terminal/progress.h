// SPDX-License-Identifier: Apache-2.0
// How far long work is, on stderr: one line that is redrawn where that is a terminal, a line now
// and then anywhere else.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>

namespace driftless::cli {

struct ProgressStyle {
  bool is_live = false;  ///< one line, redrawn
  int64_t columns = 80;  ///< of a live line
  std::chrono::milliseconds interval{0};
  std::FILE* stream = stderr;
};

/// Five times a second on a terminal, every half minute elsewhere.
ProgressStyle find_progress_style();

class Progress {
 public:
  /// `phase` names the work, such as "evaluating". A terminal shows it at once. A total of 0 is
  /// work of unknown length.
  explicit Progress(std::string phase, int64_t total = 0,
                    const ProgressStyle& style = find_progress_style());
  ~Progress();  // takes a live line away
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Shows `done` of the total, the time left at the pace so far and `note`. Where `done` falls,
  /// the work has started anew.
  void show(int64_t done, const std::string& note);

  void set_total(int64_t total) { total_ = total; }

 private:
  using Clock = std::chrono::steady_clock;
  [[nodiscard]] std::string text(int64_t done, const std::string& note) const;
  void draw(int64_t done, const std::string& note) const;

  std::string phase_;
  int64_t total_;
  ProgressStyle style_;
  int64_t done_ = 0;
  Clock::time_point start_ = Clock::now();
  Clock::time_point last_ = start_;
};

/// Does the work while a terminal says what it is.
template <class Work>
auto during(const char* phase, Work work) {
  const Progress progress(phase);
  return work();
}

/// Takes a live line away, so that a result may be printed in its place; it comes back with the
/// next show().
void make_way(const ProgressStyle& style = find_progress_style());

/// "8 s", "3 min 20 s", "2 h 5 min".
std::string duration_text(double seconds);

}  // namespace driftless::cli
