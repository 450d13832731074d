// SPDX-License-Identifier: Apache-2.0
// Boards of a task as a reasoner takes them.
#pragma once

#include <cstdint>
#include <ranges>
#include <vector>

#include "driftless/reason/reasoner.h"

namespace driftless::reason {

/// Of examples with `input` and `puzzle`, such as task::Example, at which the boards look. Board i
/// has the number `first` + i, and `seed` plus that number as its seed.
template <std::ranges::sized_range Examples>
std::vector<Board> boards_of(const Examples& examples, uint64_t seed, int64_t first = 0) {
  std::vector<Board> boards;
  boards.reserve(std::ranges::size(examples));
  int64_t number = first;
  for (const auto& example : examples) {
    boards.push_back({.tokens = example.input,
                      .puzzle = example.puzzle,
                      .seed = seed + static_cast<uint64_t>(number),
                      .number = number});
    ++number;
  }
  return boards;
}

}  // namespace driftless::reason
