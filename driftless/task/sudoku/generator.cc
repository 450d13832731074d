// SPDX-License-Identifier: Apache-2.0
#include "driftless/task/sudoku/generator.h"

#include <array>
#include <numeric>
#include <span>
#include <vector>

#include "driftless/base/error.h"
#include "driftless/base/shuffle.h"
#include "driftless/task/sudoku/solver.h"

namespace driftless::task::sudoku {
namespace {

std::vector<int64_t> random_order(int64_t count, Rng& rng) {
  std::vector<int64_t> order(static_cast<size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  shuffle(std::span(order), rng);
  return order;
}

/// The shortest prefix of `order` whose clues have one solution, found by bisection.
int64_t unique_prefix(const Board& answer, std::span<const int64_t> order) {
  const auto is_unique = [&](int64_t count) {
    Board question{.box = answer.box};
    for (const int64_t cell : order.first(static_cast<size_t>(count)))
      question.at(cell) = answer.at(cell);
    return solve(question).solutions == 1;
  };
  int64_t several = 0;
  int64_t unique = answer.size();
  while (unique - several > 1) {
    const int64_t middle = (several + unique) / 2;
    (is_unique(middle) ? unique : several) = middle;
  }
  return unique;
}

Board minimal_question(const Board& answer, Rng& rng) {
  const std::vector<int64_t> order = random_order(answer.size(), rng);
  const std::span kept = std::span(order).first(static_cast<size_t>(unique_prefix(answer, order)));
  Board question{.box = answer.box};
  for (const int64_t cell : kept) question.at(cell) = answer.at(cell);
  for (const int64_t cell : kept)
    if (is_implied(question, cell)) question.at(cell) = 0;
  return question;
}

}  // namespace

Board random_full_board(int64_t box, Rng& rng) {
  DRIFTLESS_REQUIRE(box == 2 || box == 3, ErrorCode::InvalidArgument,
                    "sudoku generator: bad box side; got ", box, ", expected 2 or 3");
  return solve_randomly(Board{.box = box}, rng);
}

std::optional<Puzzle> try_generate(const GeneratorOptions& options, Rng& rng) {
  DRIFTLESS_REQUIRE(options.min_rating <= options.max_rating, ErrorCode::InvalidArgument,
                    "sudoku generator: empty range of ratings; got ", options.min_rating, " to ",
                    options.max_rating);
  const Board answer = random_full_board(options.box, rng);
  const Board question = minimal_question(answer, rng);
  const int64_t rating = solve(question).guesses;
  if (rating < options.min_rating || rating > options.max_rating) return std::nullopt;
  return Puzzle{.source = "driftless", .question = question, .answer = answer, .rating = rating};
}

Puzzle generate(const GeneratorOptions& options, Rng& rng) {
  for (int64_t attempt = 0; attempt < options.max_attempts; ++attempt)
    if (const auto puzzle = try_generate(options, rng)) return *puzzle;
  fail(ErrorCode::InvalidArgument, "sudoku generator: no board with rating ", options.min_rating,
       " to ", options.max_rating, " among ", options.max_attempts,
       "; hint: widen the range of ratings");
}

}  // namespace driftless::task::sudoku
