// SPDX-License-Identifier: Apache-2.0
#include "driftless/task/sudoku/solver.h"

#include <array>
#include <numeric>
#include <optional>
#include <span>

#include "driftless/base/error.h"
#include "driftless/base/shuffle.h"
#include "driftless/task/sudoku/candidates.h"

namespace driftless::task::sudoku {
namespace {

/// Places the clues; nothing when two of them contradict each other.
template <size_t kBox>
std::optional<Candidates<kBox>> start(const Board& question) {
  Candidates<kBox> state;
  for (size_t cell = 0; cell < Candidates<kBox>::kCells; ++cell) {
    if (question.cells[cell] == 0) continue;
    const size_t digit = question.cells[cell] - 1u;
    if (!state.allows(cell, digit)) return std::nullopt;
    state.place(cell, digit);
  }
  return state;
}

template <size_t kBox>
struct Search {
  using State = Candidates<kBox>;
  int64_t limit = 2;     ///< stop at this many solutions
  Rng* order = nullptr;  ///< random order of digits, ascending without
  Solved found = {.answer = {.box = static_cast<int64_t>(kBox)}};

  void run(State state) {
    if (!state.propagate()) return;
    if (state.is_solved()) {
      if (found.solutions++ == 0) record(state);
      return;
    }
    ++found.guesses;
    const size_t cell = state.branch_cell();
    std::array<size_t, State::kSide> digits{};
    std::iota(digits.begin(), digits.end(), size_t{0});
    if (order != nullptr) shuffle(std::span(digits), *order);
    for (const size_t digit : digits) {
      if (!state.allows(cell, digit)) continue;
      State branch = state;
      branch.place(cell, digit);
      run(branch);
      if (found.solutions >= limit) return;
    }
  }

  void record(const State& state) {
    for (size_t cell = 0; cell < State::kCells; ++cell)
      for (size_t digit = 0; digit < State::kSide; ++digit)
        if (state.allows(cell, digit)) found.answer.cells[cell] = static_cast<uint8_t>(digit + 1);
  }
};

template <size_t kBox>
Solved search(const Board& question, Search<kBox> how) {
  if (const auto state = start<kBox>(question)) how.run(*state);
  return how.found;
}

template <size_t kBox>
bool is_implied_in(Board question, size_t cell) {
  const size_t digit = question.cells[cell] - 1u;
  question.cells[cell] = 0;
  auto state = start<kBox>(question);
  state->forbid(cell, digit);
  Search<kBox> other{.limit = 1};
  other.run(*state);
  return other.found.solutions == 0;
}

}  // namespace

Solved solve(const Board& question) {
  return question.box == 2 ? search<2>(question, {}) : search<3>(question, {});
}

bool is_implied(const Board& question, int64_t cell) {
  DRIFTLESS_ASSERT(question.at(cell) != 0 && !find_conflict(question));
  const auto at = static_cast<size_t>(cell);
  return question.box == 2 ? is_implied_in<2>(question, at) : is_implied_in<3>(question, at);
}

Board solve_randomly(const Board& question, Rng& rng) {
  const Solved found = question.box == 2 ? search<2>(question, {.limit = 1, .order = &rng})
                                         : search<3>(question, {.limit = 1, .order = &rng});
  DRIFTLESS_REQUIRE(found.solutions > 0, ErrorCode::InvalidArgument, "sudoku: no solution; got ",
                    to_line(question));
  return found.answer;
}

}  // namespace driftless::task::sudoku
