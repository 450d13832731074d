// SPDX-License-Identifier: Apache-2.0
#include "driftless/cli/terminal/progress.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <sys/ioctl.h>
#include <unistd.h>

namespace driftless::cli {
namespace {

constexpr int64_t kBarWidth = 24;
constexpr std::chrono::milliseconds kLiveInterval(200);
constexpr std::chrono::seconds kLineInterval(30);

std::string bar(int64_t done, int64_t total) {
  std::string text(static_cast<size_t>(std::clamp<int64_t>(done, 0, total) * kBarWidth / total),
                   '#');
  text.resize(static_cast<size_t>(kBarWidth), '.');
  return "[" + text + "] ";
}

}  // namespace

std::string duration_text(double seconds) {
  const int64_t whole = std::llround(std::clamp(seconds, 0.0, 1e15));
  if (whole < 60) return std::to_string(whole) + " s";
  if (whole < 3600) return std::to_string(whole / 60) + " min " + std::to_string(whole % 60) + " s";
  return std::to_string(whole / 3600) + " h " + std::to_string(whole % 3600 / 60) + " min";
}

ProgressStyle find_progress_style() {
  ProgressStyle style{.is_live = isatty(STDERR_FILENO) == 1, .interval = kLineInterval};
  if (!style.is_live) return style;
  style.interval = kLiveInterval;
  winsize size{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) style.columns = size.ws_col;
  return style;
}

Progress::Progress(std::string phase, int64_t total, const ProgressStyle& style)
    : phase_(std::move(phase)), total_(total), style_(style) {
  if (style_.is_live) draw(0, "");
}

Progress::~Progress() { make_way(style_); }

void make_way(const ProgressStyle& style) {
  if (!style.is_live) return;
  std::fputs("\r\x1b[K", style.stream);
  std::fflush(style.stream);
}

void Progress::show(int64_t done, const std::string& note) {
  const auto now = Clock::now();
  if (done < done_) start_ = now;
  done_ = done;
  if (now - last_ < style_.interval) return;
  last_ = now;
  draw(done, note);
}

std::string Progress::text(int64_t done, const std::string& note) const {
  std::string line = phase_ + "  ";
  if (total_ > 0) {
    if (style_.is_live) line += bar(done, total_);
    line += std::to_string(done) + "/" + std::to_string(total_) + "  ";
  }
  if (done > 0 && done < total_) {
    const double elapsed = std::chrono::duration<double>(last_ - start_).count();
    const double left = elapsed / static_cast<double>(done) * static_cast<double>(total_ - done);
    line += duration_text(left) + " left  ";
  }
  line += note;
  return line.substr(0, line.find_last_not_of(' ') + 1);
}

void Progress::draw(int64_t done, const std::string& note) const {
  const std::string line = text(done, note);
  if (style_.is_live)  // a line that wraps could not be redrawn
    std::fprintf(style_.stream, "\r%.*s\x1b[K", static_cast<int>(style_.columns - 1), line.c_str());
  else
    std::fprintf(style_.stream, "driftless: %s\n", line.c_str());
}

}  // namespace driftless::cli
