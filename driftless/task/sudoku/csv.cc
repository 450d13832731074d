// SPDX-License-Identifier: Apache-2.0
#include "driftless/task/sudoku/csv.h"

#include <array>

#include "driftless/base/error.h"
#include "driftless/base/files/text_file.h"
#include "driftless/task/csv.h"
#include "driftless/task/sudoku/solver.h"

namespace driftless::task::sudoku {
namespace {

// The last three are read over.
constexpr std::array<std::string_view, 8> kColumns = {
    "source", "question", "answer", "rating", "guesses", "id", "clues", "difficulty"};

/// parse_line for a board inside a file.
Board parse_at(std::string_view line, const std::string& place, std::string_view column) {
  try {
    return parse_line(line);
  } catch (const Error& error) {
    fail(ErrorCode::BadFile, place, ": ", column, ": ", error.what());
  }
}

void require_no_conflict(const Board& board, const std::string& place, std::string_view column) {
  const auto conflict = find_conflict(board);
  DRIFTLESS_REQUIRE(!conflict, ErrorCode::BadFile, place, ": ", column, " breaks the rules; ",
                    describe(*conflict, board));
}

}  // namespace

std::vector<Puzzle> parse_csv(std::string_view text, const std::string& where) {
  const CsvTable table(text, where, kColumns);
  const std::string_view rating = table.has("rating") ? "rating" : "guesses";
  std::vector<std::string_view> columns = {"question", "answer"};
  const size_t source_at = columns.size();
  if (table.has("source")) columns.push_back("source");
  const size_t rating_at = columns.size();
  if (table.has(rating)) columns.push_back(rating);

  std::vector<Puzzle> puzzles;
  for (int64_t i = 0; i < table.row_count(); ++i) {
    const auto fields = table.row(i, columns);
    const std::string place = table.place(i);
    Puzzle puzzle{.source = {},
                  .question = parse_at(fields[0], place, "question"),
                  .answer = parse_at(fields[1], place, "answer")};
    require_no_conflict(puzzle.question, place, "question");
    require_no_conflict(puzzle.answer, place, "answer");
    DRIFTLESS_REQUIRE(is_answer(puzzle.question, puzzle.answer), ErrorCode::BadFile, place,
                      ": the answer has blanks or changes a clue; got ", fields[1]);
    if (table.has("source")) puzzle.source = fields[source_at];
    if (table.has(rating)) puzzle.rating = parse_count(fields[rating_at], rating, place);
    puzzles.push_back(std::move(puzzle));
  }
  return puzzles;
}

std::string to_csv(std::span<const Puzzle> puzzles) {
  std::string text = "source,question,answer,rating\n";
  for (const Puzzle& puzzle : puzzles) {
    DRIFTLESS_REQUIRE(
        puzzle.source.find_first_of(",\r\n") == std::string::npos, ErrorCode::InvalidArgument,
        "sudoku: a source with a comma or line end does not fit CSV; got '", puzzle.source, "'");
    text += puzzle.source + "," + to_line(puzzle.question) + "," + to_line(puzzle.answer) + "," +
            std::to_string(puzzle.rating) + "\n";
  }
  return text;
}

std::vector<Puzzle> parse_lines(std::string_view text, const std::string& where) {
  std::vector<Puzzle> puzzles;
  int64_t number = 0;
  for (const std::string_view line : lines_of(text)) {
    const std::string place = where + ":" + std::to_string(++number);
    const Board question = parse_at(line, place, "board");
    require_no_conflict(question, place, "board");
    const Solved solved = solve(question);
    DRIFTLESS_REQUIRE(solved.solutions > 0, ErrorCode::BadFile, place,
                      ": the clues have no solution; got ", line);
    puzzles.push_back(
        {.source = {}, .question = question, .answer = solved.answer, .rating = solved.guesses});
  }
  return puzzles;
}

std::vector<Puzzle> parse_puzzles(std::string_view text, const std::string& where) {
  return has_header(text) ? parse_csv(text, where) : parse_lines(text, where);
}

std::vector<Puzzle> read_puzzles(const std::filesystem::path& path) {
  return parse_puzzles(read_text(path), path.string());
}

}  // namespace driftless::task::sudoku
