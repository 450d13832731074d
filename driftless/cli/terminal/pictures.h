// SPDX-License-Identifier: Apache-2.0
// Pictures of several lines on a terminal: redrawn in place, and side by side.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace driftless::cli {

/// A picture stays at least so long, for the eye.
inline constexpr std::chrono::milliseconds kFrame(120);

/// Text on standard output at once.
void write_out(std::string_view text);

/// A picture on standard output, and the next one in its place.
class Frame {
 public:
  explicit Frame(std::chrono::milliseconds interval) : interval_(interval) {}

  /// Replaces the picture before, once that has been seen for the interval.
  void show(std::string_view picture);

 private:
  std::chrono::milliseconds interval_;
  int64_t lines_ = 0;
  std::chrono::steady_clock::time_point next_{};
};

/// Columns that a line of UTF-8 takes; color sequences take none.
int64_t shown_columns(std::string_view line);

/// Columns between pictures.
inline constexpr int64_t kGap = 2;

/// The pictures beside each other, as many in a row as fit into `columns`, one at least; the rest
/// below, behind an empty line.
std::string beside(std::span<const std::string> pictures, int64_t columns);

}  // namespace driftless::cli
