// SPDX-License-Identifier: Apache-2.0
// Maze CSV from anywhere: either an Error, or puzzles that survive being written and read again.
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "driftless/base/error.h"
#include "driftless/task/maze/csv.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace driftless::task::maze;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  std::vector<Puzzle> puzzles;
  try {
    puzzles = parse_csv(text, "fuzz");
  } catch (const driftless::Error&) {
    return 0;
  }
  if (parse_csv(to_csv(puzzles), "again") != puzzles) std::abort();
  return 0;
}
