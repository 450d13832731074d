// SPDX-License-Identifier: Apache-2.0
#include "driftless/task/maze/csv.h"

#include <array>
#include <optional>

#include "driftless/base/error.h"
#include "driftless/base/files/text_file.h"
#include "driftless/task/csv.h"
#include "driftless/task/maze/path.h"

namespace driftless::task::maze {
namespace {

constexpr std::array<std::string_view, 5> kColumns = {"source", "question", "answer", "rating",
                                                      "path_cells"};

Puzzle parse_row(std::string_view question, std::string_view answer) {
  const Board drawn = parse_line(answer);
  std::optional<Puzzle> puzzle = label(parse_line(question));
  DRIFTLESS_REQUIRE(puzzle, ErrorCode::InvalidArgument, "maze: no way from S to G");
  DRIFTLESS_REQUIRE(drawn.side == puzzle->question.side, ErrorCode::InvalidArgument,
                    "maze: question and answer differ in size; got ", question.size(), " and ",
                    answer.size(), " cells");
  DRIFTLESS_REQUIRE(check(*puzzle, drawn.cells) != Outcome::Wrong, ErrorCode::InvalidArgument,
                    "maze: the answer is not the question with a shortest path from S to G");
  puzzle->answer = drawn;
  return *puzzle;
}

}  // namespace

std::vector<Puzzle> parse_csv(std::string_view text, const std::string& where) {
  const CsvTable table(text, where, kColumns);
  std::vector<std::string_view> columns = {"question", "answer"};
  if (table.has("path_cells")) columns.push_back("path_cells");
  std::vector<Puzzle> puzzles;
  for (int64_t i = 0; i < table.row_count(); ++i) {
    const auto fields = table.row(i, columns);
    try {
      puzzles.push_back(parse_row(fields[0], fields[1]));
    } catch (const Error& error) {
      fail(ErrorCode::BadFile, table.place(i), ": ", error.what());
    }
    if (columns.size() < 3) continue;
    const int64_t cells = parse_count(fields[2], "path_cells", table.place(i));
    DRIFTLESS_REQUIRE(cells == puzzles.back().path_cells, ErrorCode::BadFile, table.place(i),
                      ": wrong path_cells; got ", cells, ", expected ", puzzles.back().path_cells);
  }
  return puzzles;
}

std::string to_csv(std::span<const Puzzle> puzzles) {
  std::string text = "question,answer,path_cells\n";
  for (const Puzzle& puzzle : puzzles)
    text += to_line(puzzle.question) + "," + to_line(puzzle.answer) + "," +
            std::to_string(puzzle.path_cells) + "\n";
  return text;
}

std::vector<Puzzle> read_puzzles(const std::filesystem::path& path) {
  return parse_csv(read_text(path), path.string());
}

}  // namespace driftless::task::maze
