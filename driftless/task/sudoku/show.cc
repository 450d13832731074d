// SPDX-License-Identifier: Apache-2.0
#include "driftless/task/sudoku/show.h"

#include <array>
#include <set>
#include <vector>

#include "driftless/task/sudoku/canonical.h"
#include "driftless/task/sudoku/solver.h"
#include "driftless/task/summary.h"

namespace driftless::task::sudoku {
namespace {

constexpr uint8_t kBlank = 1;

const char* style_of(const Picture& picture, size_t cell) {
  if (picture.question[cell] != kBlank) return "\x1b[1m";
  if (!picture.label.empty())
    return picture.now[cell] == picture.label[cell] ? "\x1b[32m" : "\x1b[1;31m";
  if (picture.now[cell] == kBlank) return "\x1b[2m";
  return picture.now[cell] != picture.before[cell] ? "\x1b[33m" : "";
}

/// "├───┼───┤": `ends` are its left end, crossing and right end.
std::string rule(const std::array<const char*, 3>& ends, int64_t box) {
  std::string line = ends[0];
  for (int64_t i = 0; i < box; ++i) {
    for (int64_t dash = 0; dash < 2 * box + 1; ++dash) line += "─";
    line += i + 1 < box ? ends[1] : ends[2];
  }
  return line + "\n";
}

}  // namespace

std::string draw(std::span<const uint8_t> tokens) {
  const std::string text = to_text(kAlphabet, tokens);
  const int64_t side = side_of(std::ssize(tokens));
  const int64_t box = side_of(side);
  const auto starts_box = [&](int64_t index) { return index > 0 && index % box == 0; };
  std::string drawing;
  for (int64_t row = 0; row < side; ++row) {
    std::string line;
    std::string rule;
    for (int64_t column = 0; column < side; ++column) {
      const bool is_last = column + 1 == side;
      if (starts_box(column)) line += "| ";
      if (starts_box(column)) rule += "+-";
      line += text[static_cast<size_t>(row * side + column)];
      line += is_last ? "\n" : " ";
      rule += is_last ? "-\n" : "--";
    }
    if (starts_box(row)) drawing += rule;
    drawing += line;
  }
  return drawing;
}

Extent drawn_extent(int64_t cells) {
  const int64_t side = side_of(cells);
  const int64_t rules = side_of(side) - 1;
  return {.rows = side + rules, .columns = 2 * side - 1 + 2 * rules};
}

std::string paint(const Picture& picture) {
  const int64_t side = side_of(std::ssize(picture.now));
  const int64_t box = side_of(side);
  const std::string text = to_text(kAlphabet, picture.now);
  std::string drawing = rule({"╭", "┬", "╮"}, box);
  for (int64_t row = 0; row < side; ++row) {
    if (row > 0 && row % box == 0) drawing += rule({"├", "┼", "┤"}, box);
    for (int64_t column = 0; column < side; ++column) {
      const auto cell = static_cast<size_t>(row * side + column);
      if (column % box == 0) drawing += "│ ";
      drawing += style_of(picture, cell);
      drawing += picture.now[cell] == kBlank ? "·" : std::string(1, text[cell]);
      drawing += kPlainInk;
      drawing += ' ';
    }
    drawing += "│\n";
  }
  return drawing + rule({"╰", "┴", "╯"}, box);
}

Extent painted_extent(int64_t cells) {
  const int64_t side = side_of(cells);
  const int64_t box = side_of(side);
  return {.rows = side + box + 1, .columns = 2 * (side + box) + 1};
}

std::string audit(std::span<const Example> examples, const std::string& where) {
  require_answers(examples, where, [](const Example& example) {
    return is_answer(board_from_tokens(example.input), board_from_tokens(example.label));
  });
  int64_t ambiguous = 0;
  std::set<std::string> kinds;
  for (const Example& example : examples) {
    const Board question = board_from_tokens(example.input);
    const Board answer = board_from_tokens(example.label);
    if (solve(question).solutions != 1)
      ++ambiguous;
    else
      kinds.insert(to_line(canonical_form(question, answer)));
  }
  return told("several solutions", ambiguous) +
         told("equivalent to an earlier board",
              std::ssize(examples) - ambiguous - std::ssize(kinds));
}

std::string stats(std::span<const Example> examples) {
  std::vector<int64_t> clues;
  std::vector<int64_t> ratings;
  for (const Example& example : examples) {
    const Board question = board_from_tokens(example.input);
    clues.push_back(question.clue_count());
    ratings.push_back(solve(question).guesses);
  }
  return spread("clues", clues) + spread("rating", ratings);
}

}  // namespace driftless::task::sudoku
