// SPDX-License-Identifier: Apache-2.0
#include "driftless/task/arc/row.h"

#include "driftless/task/arc/json.h"
#include "driftless/task/arc/show.h"

namespace driftless::task::arc {
namespace {

constexpr int64_t kMiniSide = 5;

/// The test pairs with a known output, grids in the top left corner of the canvas.
template <int64_t kSide>
std::vector<Example> examples_of(std::span<const Puzzle> puzzles) {
  const Canvas canvas{.side = kSide};
  std::vector<Example> examples;
  for (const Puzzle& puzzle : puzzles)
    for (const Pair& pair : puzzle.test)
      if (pair.output)
        examples.push_back({.name = puzzle.name,
                            .input = encode(pair.input, canvas),
                            .label = encode(*pair.output, canvas)});
  return examples;
}

template <int64_t kSide>
std::vector<Example> read(const std::filesystem::path& path) {
  return examples_of<kSide>(read_puzzles(path));
}

template <int64_t kSide>
std::vector<Example> parse(std::string_view text, const std::string& where) {
  return examples_of<kSide>(parse_puzzles(text, where, "task"));
}

bool claims(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && text[first] == '{';
}

template <int64_t kSide>
Task row_of(std::string_view name, std::string_view description) {
  return {.name = name,
          .description = description,
          .alphabet = "?|0123456789",
          .seq_len = kSide * kSide,
          .family = Family::Arc,
          .read = read<kSide>,
          .parse = parse<kSide>,
          .check = check_counted_cells,
          .draw = draw,
          .drawn_extent = drawn_extent,
          .paint = paint,
          .painted_extent = painted_extent};
}

}  // namespace

Task row() {
  Task task = row_of<kMaxSide>("arc", "ARC-AGI-1, ARC-AGI-2, ConceptARC: JSON, on a 30x30 canvas");
  task.claims = claims;
  return task;
}

Task mini_row() { return row_of<kMiniSide>("mini-arc", "Mini-ARC: JSON, on a 5x5 canvas"); }

}  // namespace driftless::task::arc
