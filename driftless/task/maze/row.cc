// SPDX-License-Identifier: Apache-2.0
#include "driftless/task/maze/row.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "driftless/base/error.h"
#include "driftless/base/files/text_file.h"
#include "driftless/task/maze/csv.h"
#include "driftless/task/maze/generator.h"
#include "driftless/task/maze/path.h"
#include "driftless/task/maze/show.h"

namespace driftless::task::maze {
namespace {

Example example_of(Puzzle puzzle) {
  return {.name = {},
          .input = std::move(puzzle.question.cells),
          .label = std::move(puzzle.answer.cells)};
}

std::vector<Example> parse(std::string_view text, const std::string& where) {
  std::vector<Example> examples;
  for (Puzzle& puzzle : parse_csv(text, where)) examples.push_back(example_of(std::move(puzzle)));
  return examples;
}

std::vector<Example> read(const std::filesystem::path& path) {
  return parse(read_text(path), path.string());
}

std::string write(std::span<const Example> examples) {
  std::vector<Puzzle> puzzles;
  puzzles.reserve(examples.size());
  for (const Example& example : examples) {
    const Board answer = board_from_tokens(example.label);
    puzzles.push_back({.question = board_from_tokens(example.input),
                       .answer = answer,
                       .path_cells = path_cells(answer.cells)});
  }
  return to_csv(puzzles);
}

/// Whether some run of cells has walls, a start and a goal, as a question has; prose has none.
bool claims(std::string_view text) {
  const std::string_view cells = kAlphabet.substr(1);
  for (size_t begin = 0; (begin = text.find_first_of(cells, begin)) != std::string_view::npos;) {
    const size_t end = std::min(text.find_first_not_of(cells, begin), text.size());
    const std::string_view run = text.substr(begin, end - begin);
    const auto has = [run](std::string_view part) { return run.find(part) != run.npos; };
    if (has("##") && has("S") && has("G")) return true;
    begin = end;
  }
  return false;
}

Example solve_line(std::string_view line) {
  auto labeled = label(parse_line(line));
  DRIFTLESS_REQUIRE(labeled, ErrorCode::InvalidArgument, "board: no way leads from S to G");
  return example_of(std::move(*labeled));
}

Outcome check(const Example& example, std::span<const uint8_t> prediction) {
  return check(Puzzle{.question = board_from_tokens(example.input),
                      .answer = board_from_tokens(example.label)},
               prediction);
}

constexpr int64_t kUsualPath = 110;
using OptionKind = GeneratorOption::Kind;
constexpr size_t kMinPath = 0, kMaxPath = 1, kUniquePath = 2;  // in the order of:
constexpr std::array<GeneratorOption, 3> kOptions = {{
    {"min-path", "least cells of the path", kUsualPath, OptionKind::Bound},
    {"max-path", "most cells of the path", std::numeric_limits<int64_t>::max(), OptionKind::Bound},
    {"unique-path", "a tree of corridors, one path", 0, OptionKind::Switch},
}};

/// Paths as long as those of Maze-Hard on its boards of 30 x 30; where nothing is asked, shorter
/// ones on smaller boards.
std::optional<Example> attempt(const GeneratorRequest& request, Rng& rng) {
  GeneratorOptions options{.side = side_of(request.cells),
                           .min_path_cells = std::min(kUsualPath, request.cells / 8)};
  DRIFTLESS_REQUIRE(options.side * options.side == request.cells, ErrorCode::InvalidArgument,
                    "maze; got ", request.cells, " cells, expected a square");
  if (!request.values.empty()) {
    options.min_path_cells = request.values[kMinPath];
    options.max_path_cells = request.values[kMaxPath];
    if (request.values[kUniquePath] != 0) options.kind = maze::Kind::Perfect;
  }
  std::optional<Puzzle> puzzle = try_generate(options, rng);
  if (!puzzle) return std::nullopt;
  return example_of(std::move(*puzzle));
}

constexpr Generator kGenerator = {.options = kOptions, .attempt = attempt, .usual_side = 30};

/// One of the eight of the square. A maze has hundreds of shortest paths or more and the rule that
/// chooses one knows directions, so an image is labeled anew.
Example random_image(const Example& board, Rng& rng) {
  const auto symmetry = dihedral_from_id(static_cast<int64_t>(rng.below(kDihedralCount)));
  auto image = label(apply(symmetry, board_from_tokens(board.input)));
  DRIFTLESS_REQUIRE(image, ErrorCode::InvalidArgument, "maze '", board.name,
                    "': no path from S to G");
  Example example = example_of(std::move(*image));
  example.name = board.name;
  return example;
}

std::vector<uint8_t> canonical(const Example& board) {
  const Board question = board_from_tokens(board.input);
  std::vector<uint8_t> least = question.cells;
  for (int64_t id = 1; id < kDihedralCount; ++id)
    least = std::min(least, apply(dihedral_from_id(id), question).cells);
  return least;
}

}  // namespace

Task row() {
  return {.name = "maze",
          .description = "Maze: CSV of Maze-Hard",
          .alphabet = kAlphabet,
          .seq_len = 900,
          .read = read,
          .parse = parse,
          .write = write,
          .claims = claims,
          .solve_line = solve_line,
          .check = check,
          .other_answer = "shortest path",
          .has_many_answers = true,
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

}  // namespace driftless::task::maze
