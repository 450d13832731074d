// SPDX-License-Identifier: Apache-2.0
#include "driftless/task/arc/json.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "driftless/base/error.h"
#include "driftless/base/files/text_file.h"
#include "driftless/base/text/json.h"
#include "driftless/base/text/quote.h"

namespace driftless::task::arc {
namespace {

using Json = nlohmann::json;

void require_keys(const Json& object, std::initializer_list<std::string_view> allowed,
                  const std::string& place) {
  for (const auto& item : object.items())
    DRIFTLESS_REQUIRE(std::find(allowed.begin(), allowed.end(), item.key()) != allowed.end(),
                      ErrorCode::BadFile, place, ": unknown key ", quote(item.key()));
}

Grid parse_grid(const Json& rows, const std::string& place) {
  const auto is_side = [](size_t length) { return length >= 1 && length <= kMaxSide; };
  DRIFTLESS_REQUIRE(rows.is_array() && is_side(rows.size()), ErrorCode::BadFile, place,
                    ": bad grid; got ", rows.type_name(), " of ", rows.size(),
                    ", expected an array of 1 to 30 rows");
  Grid grid{.extent = {.rows = static_cast<int64_t>(rows.size()), .columns = 0}};
  for (const Json& row : rows) {
    if (grid.extent.columns == 0) grid.extent.columns = static_cast<int64_t>(row.size());
    DRIFTLESS_REQUIRE(row.is_array() && is_side(row.size()) &&
                          static_cast<int64_t>(row.size()) == grid.extent.columns,
                      ErrorCode::BadFile, place, ": bad row; got ", row.type_name(), " of ",
                      row.size(), ", expected arrays of one length, 1 to 30");
    for (const Json& cell : row) {
      DRIFTLESS_REQUIRE(cell.is_number_unsigned() && cell.get<uint64_t>() < kColorCount,
                        ErrorCode::BadFile, place, ": bad color; got ",
                        cell.is_number() ? cell.dump() : cell.type_name(),
                        ", expected an integer 0 to 9");
      grid.cells.push_back(cell.get<uint8_t>());
    }
  }
  return grid;
}

enum class Output { Required, Optional };

std::vector<Pair> parse_pairs(const Json& puzzle, const char* key, Output output,
                              const std::string& place) {
  const auto list = puzzle.find(key);
  DRIFTLESS_REQUIRE(list != puzzle.end() && list->is_array(), ErrorCode::BadFile, place,
                    ": no array '", key, "'");
  std::vector<Pair> pairs;
  for (const Json& entry : *list) {
    const std::string here = place + ": " + key + "[" + std::to_string(pairs.size()) + "]";
    DRIFTLESS_REQUIRE(entry.is_object() && entry.contains("input"), ErrorCode::BadFile, here,
                      ": no input; got ", entry.type_name());
    require_keys(entry, {"input", "output"}, here);
    Pair pair{.input = parse_grid(entry["input"], here + ".input"), .output = std::nullopt};
    if (entry.contains("output")) pair.output = parse_grid(entry["output"], here + ".output");
    DRIFTLESS_REQUIRE(pair.output || output == Output::Optional, ErrorCode::BadFile, here,
                      ": no output");
    pairs.push_back(std::move(pair));
  }
  return pairs;
}

Puzzle parse_puzzle(const Json& puzzle, const std::string& name, const std::string& place) {
  DRIFTLESS_REQUIRE(puzzle.is_object(), ErrorCode::BadFile, place, ": not a task; got ",
                    puzzle.type_name(), ", expected an object with train and test");
  require_keys(puzzle, {"train", "test", "name"}, place);
  return {.name = name,
          .train = parse_pairs(puzzle, "train", Output::Required, place),
          .test = parse_pairs(puzzle, "test", Output::Optional, place)};
}

Json pairs_to_json(const std::vector<Pair>& pairs) {
  Json list = Json::array();
  for (const Pair& pair : pairs) {
    Json entry = {{"input", grid_to_json(pair.input)}};
    if (pair.output) entry["output"] = grid_to_json(*pair.output);
    list.push_back(std::move(entry));
  }
  return list;
}

}  // namespace

std::vector<Puzzle> parse_puzzles(std::string_view text, const std::string& where,
                                  const std::string& single_name) {
  const Json root = parse_json(text, where);
  DRIFTLESS_REQUIRE(root.is_object(), ErrorCode::BadFile, where, ": not a task file; got ",
                    root.type_name(), ", expected an object");
  if (root.contains("train")) return {parse_puzzle(root, single_name, where)};
  std::vector<Puzzle> puzzles;
  for (const auto& item : root.items())
    puzzles.push_back(parse_puzzle(item.value(), item.key(), where + ": " + quote(item.key())));
  return puzzles;
}

void add_solutions(std::vector<Puzzle>& puzzles, std::string_view text, const std::string& where) {
  const Json root = parse_json(text, where);
  for (Puzzle& puzzle : puzzles) {
    const auto grids = root.is_object() ? root.find(puzzle.name) : root.end();
    DRIFTLESS_REQUIRE(grids != root.end() && grids->is_array(), ErrorCode::BadFile, where,
                      ": no solutions for task ", quote(puzzle.name));
    DRIFTLESS_REQUIRE(grids->size() == puzzle.test.size(), ErrorCode::BadFile, where, ": task ",
                      quote(puzzle.name), ": wrong number of solutions; got ", grids->size(),
                      ", expected ", puzzle.test.size());
    for (size_t i = 0; i < puzzle.test.size(); ++i)
      puzzle.test[i].output = parse_grid(
          (*grids)[i], where + ": " + quote(puzzle.name) + "[" + std::to_string(i) + "]");
  }
}

std::vector<Puzzle> read_puzzles(const std::filesystem::path& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(path))
      if (entry.path().extension() == ".json") files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    std::vector<Puzzle> puzzles;
    for (const auto& file : files)
      for (Puzzle& puzzle : parse_puzzles(read_text(file), file.string(), file.stem().string()))
        puzzles.push_back(std::move(puzzle));
    return puzzles;
  }
  std::vector<Puzzle> puzzles = parse_puzzles(read_text(path), path.string(), path.stem().string());
  const std::string stem = path.stem().string();
  constexpr std::string_view kChallenges = "_challenges";
  if (stem.ends_with(kChallenges)) {
    const auto solutions =
        path.parent_path() / (stem.substr(0, stem.size() - kChallenges.size()) + "_solutions.json");
    if (std::filesystem::exists(solutions, ignored))
      add_solutions(puzzles, read_text(solutions), solutions.string());
  }
  return puzzles;
}

Json grid_to_json(const Grid& grid) {
  Json rows = Json::array();
  for (int64_t row = 0; row < grid.extent.rows; ++row) {
    Json line = Json::array();
    for (int64_t column = 0; column < grid.extent.columns; ++column)
      line.push_back(grid.at(row, column));
    rows.push_back(std::move(line));
  }
  return rows;
}

std::string to_json(std::span<const Puzzle> puzzles) {
  Json root = Json::object();
  for (const Puzzle& puzzle : puzzles) {
    DRIFTLESS_REQUIRE(!root.contains(puzzle.name), ErrorCode::InvalidArgument,
                      "arc: two tasks of one name; got ", quote(puzzle.name));
    root[puzzle.name] = {{"train", pairs_to_json(puzzle.train)},
                         {"test", pairs_to_json(puzzle.test)}};
  }
  return root.dump() + "\n";
}

}  // namespace driftless::task::arc
