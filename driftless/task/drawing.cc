// SPDX-License-Identifier: Apache-2.0
#include "driftless/task/drawing.h"

#include <cmath>

namespace driftless::task {

int64_t side_of(int64_t cells) { return std::llround(std::sqrt(static_cast<double>(cells))); }

std::string draw_rows(std::string_view text, int64_t columns) {
  std::string drawing;
  for (size_t first = 0; first < text.size(); first += static_cast<size_t>(columns)) {
    drawing += text.substr(first, static_cast<size_t>(columns));
    drawing += '\n';
  }
  return drawing;
}

std::vector<std::string> half_blocks(const Pixels& pixels) {
  const auto [rows, columns] = pixels.extent;
  std::vector<std::string> lines;
  for (int64_t row = 0; row < rows; row += 2) {
    std::string line;
    for (int64_t column = 0; column < columns; ++column) {
      const auto at = static_cast<size_t>(row * columns + column);
      line += "\x1b[38;5;" + std::to_string(pixels.colors[at]) + "m";
      if (row + 1 < rows)
        line +=
            "\x1b[48;5;" + std::to_string(pixels.colors[at + static_cast<size_t>(columns)]) + "m";
      line += "▀";
    }
    lines.push_back(line + kPlainInk);
  }
  return lines;
}

}  // namespace driftless::task
