// SPDX-License-Identifier: Apache-2.0
#include "driftless/cli/progress.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include <unistd.h>

namespace driftless::cli {
namespace {

constexpr int64_t kBarWidth = 24;
constexpr std::chrono::milliseconds kRefresh(200);

}  // namespace

std::string duration_text(double seconds) {
  const int64_t whole = std::llround(std::clamp(seconds, 0.0, 1e15));
  if (whole < 60) return std::to_string(whole) + " s";
  if (whole < 3600) return std::to_string(whole / 60) + " min " + std::to_string(whole % 60) + " s";
  return std::to_string(whole / 3600) + " h " + std::to_string(whole % 3600 / 60) + " min";
}

Progress::Progress(int64_t total) : total_(total), is_visible_(isatty(STDERR_FILENO) == 1) {
  if (is_visible_) draw(0, "");
}

Progress::~Progress() {
  if (is_visible_) std::fputs("\r\x1b[K", stderr);
}

void Progress::show(int64_t done, const std::string& note) {
  if (!is_visible_) return;
  const auto now = Clock::now();
  if (now - last_ < kRefresh) return;
  last_ = now;
  draw(done, note);
}

void Progress::draw(int64_t done, const std::string& note) const {
  const auto filled = static_cast<size_t>(total_ == 0 ? kBarWidth : done * kBarWidth / total_);
  std::string bar(filled, '#');
  bar.resize(static_cast<size_t>(kBarWidth), '.');
  std::string line =
      "[" + bar + "] " + std::to_string(done) + "/" + std::to_string(total_) + "  " + note;
  if (done > 0 && done < total_) {
    const double elapsed = std::chrono::duration<double>(last_ - start_).count();
    const double left = elapsed / static_cast<double>(done) * static_cast<double>(total_ - done);
    line += "  " + duration_text(left) + " left";
  }
  std::fprintf(stderr, "\r%s\x1b[K", line.c_str());
}

}  // namespace driftless::cli
