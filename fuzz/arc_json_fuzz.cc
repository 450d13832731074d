// SPDX-License-Identifier: Apache-2.0
// ARC JSON from anywhere: either an Error, or grids that survive the canvas.
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "driftless/base/error.h"
#include "driftless/task/arc/json.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace driftless::task::arc;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  std::vector<Puzzle> puzzles;
  try {
    puzzles = parse_puzzles(text, "fuzz", "single");
  } catch (const driftless::Error&) {
    return 0;
  }
  for (const Puzzle& puzzle : puzzles)
    for (const Pair& pair : puzzle.test)
      if (crop(encode(pair.input, {})) != pair.input) std::abort();
  try {
    add_solutions(puzzles, text, "fuzz");
  } catch (const driftless::Error&) {
  }
  return 0;
}
