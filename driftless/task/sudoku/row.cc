// SPDX-License-Identifier: Apache-2.0
#include "driftless/task/sudoku/row.h"

#include <algorithm>
#include <array>
#include <limits>

#include "driftless/base/error.h"
#include "driftless/base/files/text_file.h"
#include "driftless/task/csv.h"
#include "driftless/task/sudoku/augment.h"
#include "driftless/task/sudoku/canonical.h"
#include "driftless/task/sudoku/csv.h"
#include "driftless/task/sudoku/generator.h"
#include "driftless/task/sudoku/show.h"
#include "driftless/task/sudoku/solver.h"

namespace driftless::task::sudoku {
namespace {

Example example_of(const Puzzle& puzzle) {
  return {.name = puzzle.source,
          .input = to_tokens(puzzle.question),
          .label = to_tokens(puzzle.answer),
          .rating = puzzle.rating};
}

std::vector<Example> parse(std::string_view text, const std::string& where) {
  std::vector<Example> examples;
  for (const Puzzle& puzzle : parse_puzzles(text, where)) examples.push_back(example_of(puzzle));
  return examples;
}

std::vector<Example> read(const std::filesystem::path& path) {
  return parse(read_text(path), path.string());
}

/// Rated by our solver, whatever rating the boards came with.
std::string write(std::span<const Example> examples) {
  std::vector<Puzzle> puzzles;
  puzzles.reserve(examples.size());
  for (const Example& example : examples) {
    const Board question = board_from_tokens(example.input);
    puzzles.push_back({.source = example.name,
                       .question = question,
                       .answer = board_from_tokens(example.label),
                       .rating = solve(question).guesses});
  }
  return to_csv(puzzles);
}

bool claims(std::string_view text) {
  const std::string_view question = first_question(text);
  return !question.empty() && question.find_first_not_of(".0123456789") == std::string_view::npos;
}

Example solve_line(std::string_view line) {
  const Board question = parse_line(line);
  const auto conflict = find_conflict(question);
  DRIFTLESS_REQUIRE(!conflict, ErrorCode::InvalidArgument, "board: contradictory clues; ",
                    describe(*conflict, question));
  const Solved solved = solve(question);
  DRIFTLESS_REQUIRE(solved.solutions > 0, ErrorCode::InvalidArgument,
                    "board: the clues leave no solution");
  return {.name = {}, .input = to_tokens(question), .label = to_tokens(solved.answer)};
}

Outcome check(const Example& example, std::span<const uint8_t> prediction) {
  if (check_counted_cells(example, prediction) == Outcome::Exact) return Outcome::Exact;
  const Board question = board_from_tokens(example.input);
  const bool is_full = std::all_of(prediction.begin(), prediction.end(), [&](uint8_t token) {
    return token >= 2 && token <= question.side() + 1;
  });
  const bool is_right = is_full && is_answer(question, board_from_tokens(prediction));
  return is_right ? Outcome::Accepted : Outcome::Wrong;
}

bool is_ambiguous(const Example& example) {
  return solve(board_from_tokens(example.input)).solutions > 1;
}

constexpr int64_t kNoLimit = std::numeric_limits<int64_t>::max();
/// Not the same as 0, which draws a number for each board: boards of a seed stay what they are.
constexpr int64_t kNoClues = -1;
using OptionKind = GeneratorOption::Kind;
constexpr size_t kMinRating = 0, kMaxRating = 1, kExtraClues = 2;  // in the order of:
constexpr std::array<GeneratorOption, 3> kOptions = {{
    {"min-rating", "least guesses", 0, OptionKind::Bound},
    {"max-rating", "most guesses", kNoLimit, OptionKind::Bound},
    {"extra-clues", "show 0 to so many clues more, drawn for each board", kNoClues,
     OptionKind::Number},
}};

/// Shows up to `most` of the blank cells.
void add_clues(Puzzle& puzzle, int64_t most, Rng& rng) {
  for (auto left = static_cast<int64_t>(rng.below(static_cast<uint64_t>(most) + 1)); left > 0;) {
    const auto cell = static_cast<int64_t>(rng.below(static_cast<uint64_t>(puzzle.answer.size())));
    if (puzzle.question.at(cell) == 0) --left;
    puzzle.question.at(cell) = puzzle.answer.at(cell);
    if (puzzle.question == puzzle.answer) return;
  }
}

std::optional<Example> attempt(const GeneratorRequest& request, Rng& rng) {
  GeneratorOptions options{.box = box_of_size(request.cells)};
  int64_t extra_clues = kNoClues;
  if (!request.values.empty()) {
    options.min_rating = request.values[kMinRating];
    options.max_rating = request.values[kMaxRating];
    extra_clues = request.values[kExtraClues];
    DRIFTLESS_REQUIRE(extra_clues >= kNoClues, ErrorCode::InvalidArgument,
                      "sudoku generator: extra clues; got ", extra_clues, ", expected 0 or more");
  }
  std::optional<Puzzle> puzzle = try_generate(options, rng);
  if (!puzzle) return std::nullopt;
  if (extra_clues != kNoClues) add_clues(*puzzle, extra_clues, rng);
  return example_of(*puzzle);
}

constexpr Generator kGenerator = {.options = kOptions, .attempt = attempt};

Example random_image(const Example& board, Rng& rng) {
  const Board question = board_from_tokens(board.input);
  const Symmetry symmetry = random_symmetry(question.box, rng);
  return {.name = board.name,
          .input = to_tokens(apply(symmetry, question)),
          .label = to_tokens(apply(symmetry, board_from_tokens(board.label)))};
}

std::vector<uint8_t> canonical(const Example& board) {
  return to_tokens(canonical_form(board_from_tokens(board.input), board_from_tokens(board.label)));
}

}  // namespace

Task row() {
  return {
      .name = "sudoku",
      .description = "Sudoku: CSV of Sudoku-Extreme or one board a line",
      .alphabet = kAlphabet,
      .seq_len = 81,
      .read = read,
      .parse = parse,
      .write = write,
      .claims = claims,
      .solve_line = solve_line,
      .sample = "8...7.....9...5..3.......16..57....9.3......8..614.5..1...87....2.5...4....2...9.",
      .check = check,
      .is_ambiguous = is_ambiguous,
      .audit = audit,
      .stats = stats,
      .generator = &kGenerator,
      .random_image = random_image,
      .canonical = canonical,
      .draw = draw,
      .drawn_extent = drawn_extent,
      .paint = paint,
      .painted_extent = painted_extent};
}

}  // namespace driftless::task::sudoku
