// SPDX-License-Identifier: Apache-2.0
#include "driftless/cli/progress.h"

#include <cstdio>

#include <unistd.h>

namespace driftless::cli {
namespace {

constexpr int64_t kBarWidth = 30;

}  // namespace

Progress::Progress(int64_t total) : total_(total), is_visible_(isatty(STDERR_FILENO) == 1) {}

Progress::~Progress() {
  if (is_visible_) std::fputs("\r\x1b[K", stderr);
}

void Progress::show(int64_t done, const std::string& note) {
  const int64_t percent = total_ == 0 ? 100 : done * 100 / total_;
  if (!is_visible_ || percent == shown_percent_) return;
  shown_percent_ = percent;
  const int64_t filled = percent * kBarWidth / 100;
  std::string bar(static_cast<size_t>(filled), '#');
  bar.resize(static_cast<size_t>(kBarWidth), '.');
  std::fprintf(stderr, "\r[%s] %lld/%lld  %s\x1b[K", bar.c_str(), static_cast<long long>(done),
               static_cast<long long>(total_), note.c_str());
}

}  // namespace driftless::cli
