// SPDX-License-Identifier: Apache-2.0
#include "driftless/task/arc/rows.h"

#include <algorithm>
#include <cmath>
#include <set>

#include <nlohmann/json.hpp>

#include "driftless/base/error.h"
#include "driftless/base/files/text_file.h"
#include "driftless/base/text/json.h"

namespace driftless::task::arc {
namespace {

Example row_of(const Puzzle& puzzle, const Pair& pair, const Identifiers::Entry& entry,
               int64_t side) {
  const bool is_original = entry.variant == Variant{};
  try {
    const Canvas canvas{.side = side};
    Example row{.name = is_original ? puzzle.name : variant_name(puzzle.name, entry.variant),
                .input = encode(apply(entry.variant, pair.input), canvas),
                .label = {},
                .puzzle = entry.row};
    if (pair.output)
      row.label = encode(apply(entry.variant, *pair.output), canvas);
    else
      row.label.resize(row.input.size(), 0);
    return row;
  } catch (const Error& error) {
    fail(error.code(), "task ", puzzle.name, ": ", error.what());
  }
}

/// Test input by test input, so that a limit on rows cuts tasks at the end.
void append_rows(const Puzzle& puzzle, std::span<const Identifiers::Entry> entries, int64_t side,
                 std::vector<Example>& rows) {
  for (const Pair& pair : puzzle.test)
    for (const Identifiers::Entry& entry : entries)
      rows.push_back(row_of(puzzle, pair, entry, side));
}

Canvas canvas_of(std::span<const uint8_t> tokens) {
  return {.side = std::llround(std::sqrt(static_cast<double>(tokens.size())))};
}

/// The grid of a canvas, wherever it lies: its first color is its top left corner. Empty where
/// there is none.
Grid find_grid(std::span<const uint8_t> tokens, const std::string& name) {
  const auto first = std::find_if(tokens.begin(), tokens.end(),
                                  [](uint8_t token) { return token >= kFirstColorToken; });
  if (first == tokens.end()) return {};
  Canvas canvas = canvas_of(tokens);
  canvas.row = (first - tokens.begin()) / canvas.side;
  canvas.column = (first - tokens.begin()) % canvas.side;
  std::vector<uint8_t> moved(tokens.size(), 0);
  for (int64_t row = canvas.row; row < canvas.side; ++row)
    for (int64_t column = canvas.column; column < canvas.side; ++column)
      moved[static_cast<size_t>((row - canvas.row) * canvas.side + column - canvas.column)] =
          tokens[static_cast<size_t>(row * canvas.side + column)];
  Grid grid = crop(moved);
  const std::vector<uint8_t> expected = encode(grid, canvas);
  DRIFTLESS_REQUIRE(std::equal(tokens.begin(), tokens.end(), expected.begin(), expected.end()),
                    ErrorCode::InvalidArgument, "arc: row of ", name,
                    ": no grid with end marks, as data-set folders have it");
  return grid;
}

}  // namespace

Identifiers::Identifiers(std::span<const std::string> names, const std::string& where) {
  for (size_t row = 0; row < names.size(); ++row) {
    if (names[row] == kBlankName) continue;
    try {
      NamedVariant named = parse_variant_name(names[row]);
      entries_[std::move(named.puzzle)].push_back(
          {.row = static_cast<int64_t>(row), .variant = named.variant});
    } catch (const Error& error) {
      fail(ErrorCode::BadFile, where, ": name ", row, ": ", error.what());
    }
  }
  for (auto& [puzzle, entries] : entries_)
    std::stable_partition(entries.begin(), entries.end(),
                          [](const Entry& entry) { return entry.variant == Variant{}; });
}

std::span<const Identifiers::Entry> Identifiers::of(const std::string& puzzle) const {
  const auto found = entries_.find(puzzle);
  if (found == entries_.end()) return {};
  return found->second;
}

std::vector<std::string> read_identifiers(const std::filesystem::path& path) {
  const nlohmann::json list = parse_json(read_text(path), path.string());
  DRIFTLESS_REQUIRE(list.is_array(), ErrorCode::BadFile, path.string(),
                    ": not a list of names; got ", list.type_name(), ", expected an array");
  std::vector<std::string> names;
  names.reserve(list.size());
  for (const auto& name : list) {
    DRIFTLESS_REQUIRE(name.is_string(), ErrorCode::BadFile, path.string(), ": name ", names.size(),
                      " is not a string; got ", name.type_name());
    names.push_back(name.get<std::string>());
  }
  return names;
}

std::vector<Example> rows(std::span<const Puzzle> puzzles, const Identifiers& identifiers,
                          const RowOptions& options) {
  std::vector<Example> rows;
  for (const Puzzle& puzzle : puzzles) {
    std::span<const Identifiers::Entry> entries = identifiers.of(puzzle.name);
    if (options.variants > 0 && options.variants < std::ssize(entries))
      entries = entries.first(static_cast<size_t>(options.variants));
    append_rows(puzzle, entries, options.side, rows);
  }
  return rows;
}

std::vector<Example> rows(std::span<const Puzzle> puzzles, const RowOptions& options, Rng& rng) {
  std::vector<Example> rows;
  for (const Puzzle& puzzle : puzzles) {
    std::vector<Identifiers::Entry> entries(1);
    const int64_t more = std::max<int64_t>(0, options.variants - 1);
    for (const Variant& variant : distinct_variants(puzzle, more, rng))
      entries.push_back({.row = 0, .variant = variant});
    append_rows(puzzle, entries, options.side, rows);
  }
  return rows;
}

std::vector<Puzzle> puzzles_of(std::span<const Example> rows) {
  std::vector<Puzzle> puzzles;
  std::map<std::string, size_t> place;
  std::set<std::pair<size_t, Grid>> seen;
  for (const Example& row : rows) {
    const NamedVariant source = parse_variant_name(row.name);
    const size_t index = place.try_emplace(source.puzzle, puzzles.size()).first->second;
    if (index == puzzles.size())
      puzzles.push_back({.name = source.puzzle, .train = {}, .test = {}});
    Pair pair{.input = undo(source.variant, find_grid(row.input, row.name)),
              .output = std::nullopt};
    DRIFTLESS_REQUIRE(!pair.input.cells.empty(), ErrorCode::InvalidArgument, "arc: row of ",
                      row.name, ": no grid on the canvas of the input");
    if (!seen.emplace(index, pair.input).second) continue;
    Grid output = undo(source.variant, find_grid(row.label, row.name));
    if (!output.cells.empty()) pair.output = std::move(output);
    puzzles[index].test.push_back(std::move(pair));
  }
  return puzzles;
}

}  // namespace driftless::task::arc
