// SPDX-License-Identifier: Apache-2.0
#include "driftless/cli/terminal/pictures.h"

#include <algorithm>
#include <cstdio>
#include <thread>
#include <vector>

namespace driftless::cli {
namespace {

/// A picture as its lines, and the columns of the widest.
struct Block {
  std::vector<std::string_view> lines;
  int64_t width = 0;
};

Block block_of(std::string_view picture) {
  Block block;
  while (!picture.empty()) {
    const size_t end = picture.find('\n');
    block.lines.push_back(picture.substr(0, end));
    block.width = std::max(block.width, shown_columns(block.lines.back()));
    picture.remove_prefix(end == std::string_view::npos ? picture.size() : end + 1);
  }
  return block;
}

/// Blocks in one row; lines have no blanks at their ends.
std::string row_of(std::span<const Block> blocks) {
  size_t height = 0;
  for (const Block& block : blocks) height = std::max(height, block.lines.size());
  std::string text;
  for (size_t i = 0; i < height; ++i) {
    int64_t missing = 0;
    for (const Block& block : blocks) {
      const std::string_view line = i < block.lines.size() ? block.lines[i] : std::string_view();
      if (!line.empty()) text += std::string(static_cast<size_t>(missing), ' ');
      missing = (line.empty() ? missing : 0) + block.width - shown_columns(line) + kGap;
      text += line;
    }
    text += '\n';
  }
  return text;
}

}  // namespace

void write_out(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

void Frame::show(std::string_view picture) {
  std::this_thread::sleep_until(next_);
  next_ = std::chrono::steady_clock::now() + interval_;
  const std::string back = lines_ > 0 ? "\x1b[" + std::to_string(lines_) + "A\r\x1b[J" : "";
  write_out(back + std::string(picture));
  lines_ = std::count(picture.begin(), picture.end(), '\n');
}

int64_t shown_columns(std::string_view line) {
  int64_t columns = 0;
  for (size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\x1b') {
      i = std::min(line.find('m', i), line.size());
      continue;
    }
    const bool continues = (static_cast<unsigned char>(line[i]) & 0xc0) == 0x80;  // UTF-8
    columns += continues ? 0 : 1;
  }
  return columns;
}

std::string beside(std::span<const std::string> pictures, int64_t columns) {
  std::vector<Block> blocks;
  blocks.reserve(pictures.size());
  for (const std::string& picture : pictures) blocks.push_back(block_of(picture));
  std::string text;
  for (size_t first = 0; first < blocks.size();) {
    size_t count = 1;
    int64_t width = blocks[first].width;
    while (first + count < blocks.size() && width + kGap + blocks[first + count].width <= columns) {
      width += kGap + blocks[first + count].width;
      ++count;
    }
    text += (first > 0 ? "\n" : "") + row_of(std::span(blocks).subspan(first, count));
    first += count;
  }
  return text;
}

}  // namespace driftless::cli
