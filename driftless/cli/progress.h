// SPDX-License-Identifier: Apache-2.0
// A progress line on stderr, where that is a terminal; nothing anywhere else.
#pragma once

#include <cstdint>
#include <string>

namespace driftless::cli {

class Progress {
 public:
  explicit Progress(int64_t total);
  ~Progress();  // takes the line away
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Shows `done` of the total and `note` behind it, at most once per percent.
  void show(int64_t done, const std::string& note);

 private:
  int64_t total_;
  int64_t shown_percent_ = -1;
  bool is_visible_;
};

}  // namespace driftless::cli
