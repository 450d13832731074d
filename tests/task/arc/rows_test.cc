// SPDX-License-Identifier: Apache-2.0
#include "driftless/task/arc/rows.h"

#include <set>

#include <gtest/gtest.h>

#include "driftless/base/files/file.h"

#include "tests/task/arc/random_puzzle.h"
#include "tests/testing/expect_error.h"
#include "tests/testing/temp_dir.h"

namespace driftless::task::arc {
namespace {

using driftless::testing::expect_error;

const std::vector<std::string> kNames = {
    "<blank>", "b|||t4|||0213456789", "b", "a|||t1|||0987654321", "a", "a_t7_0123456798", "unused"};

Puzzle task(const std::string& name, int64_t tests, Rng& rng) {
  Puzzle puzzle{.name = name, .train = {}, .test = {}};
  for (int64_t i = 0; i < tests; ++i)
    puzzle.test.push_back({.input = random_grid(rng, 5), .output = random_grid(rng, 5)});
  return puzzle;
}

TEST(ArcIdentifiers, GiveATaskItsRowsOriginalFirst) {
  const Identifiers identifiers(kNames, "list");
  const auto a = identifiers.of("a");
  ASSERT_EQ(a.size(), 3u);
  EXPECT_EQ(a[0].row, 4);
  EXPECT_EQ(a[0].variant, Variant{});
  EXPECT_EQ(a[1].row, 3);
  EXPECT_EQ(a[1].variant.symmetry, Dihedral::Turn90);
  EXPECT_EQ(a[2].row, 5);
  EXPECT_EQ(a[2].variant.symmetry, Dihedral::AntiTranspose);
  EXPECT_EQ(a[2].variant.color_to[8], 9);
  EXPECT_TRUE(identifiers.of("c").empty());
  EXPECT_TRUE(identifiers.of("<blank>").empty());
}

TEST(ArcRows, EveryTestInputUnderEveryVariant) {
  Rng rng(1);
  std::vector<Puzzle> puzzles = {task("a", 2, rng), task("stranger", 1, rng), task("b", 1, rng)};
  puzzles[2].test[0].output.reset();
  const Identifiers identifiers(kNames, "list");
  const auto all = rows(puzzles, identifiers, {.side = 5});
  ASSERT_EQ(all.size(), 2 * 3 + 2u);
  EXPECT_EQ(all[0].name, "a");
  EXPECT_EQ(all[0].puzzle, 4);
  EXPECT_EQ(all[4].name, "a|||t1|||0987654321");
  EXPECT_EQ(crop(all[4].input), apply(identifiers.of("a")[1].variant, puzzles[0].test[1].input));
  EXPECT_EQ(crop(all[4].label), apply(identifiers.of("a")[1].variant, *puzzles[0].test[1].output));
  EXPECT_EQ(all[7].puzzle, 1);
  EXPECT_EQ(all[7].label, std::vector<uint8_t>(25, 0)) << "unknown: no cell counts";
  const auto limited = rows(puzzles, identifiers, {.side = 5, .variants = 2});
  EXPECT_EQ(limited.size(), 2 * 2 + 2u);
  EXPECT_EQ(rows(puzzles, identifiers, {.side = 5, .variants = 9}).size(), all.size());
}

TEST(ArcRows, WithoutATableVariantsAreDrawn) {
  Rng rng(2);
  const std::vector<Puzzle> puzzles = {task("a", 2, rng), task("b", 1, rng)};
  const auto plain = rows(puzzles, {.side = 5}, rng);
  ASSERT_EQ(plain.size(), 3u);
  EXPECT_EQ(plain[1].name, "a");
  const auto varied = rows(puzzles, {.side = 5, .variants = 4}, rng);
  ASSERT_EQ(varied.size(), 12u);
  std::set<std::string> names;
  for (const Example& row : varied) {
    names.insert(row.name);
    EXPECT_EQ(row.puzzle, 0);
  }
  EXPECT_EQ(names.size(), 8u);
}

TEST(ArcRows, LeadBackToTheTasks) {
  Rng rng(3);
  std::vector<Puzzle> puzzles = {task("a", 2, rng), task("b", 1, rng)};
  puzzles[1].test[0].output.reset();
  EXPECT_EQ(puzzles_of(rows(puzzles, Identifiers(kNames, "list"), {.side = 5})), puzzles);
  EXPECT_TRUE(puzzles_of({}).empty());
}

TEST(ArcRows, LeadBackToTheTasksFromAnyPlaceOnTheCanvas) {
  Rng rng(5);
  const Pair pair{.input = random_grid(Extent{.rows = 2, .columns = 3}, rng),
                  .output = random_grid(Extent{.rows = 4, .columns = 1}, rng)};
  for (int64_t row = 0; row <= 1; ++row)
    for (int64_t column = 0; column <= 2; ++column) {
      const Canvas canvas{.side = 5, .row = row, .column = column};
      const Example moved{
          .name = "a", .input = encode(pair.input, canvas), .label = encode(*pair.output, canvas)};
      const std::vector<Puzzle> expected = {{.name = "a", .train = {}, .test = {pair}}};
      EXPECT_EQ(puzzles_of(std::vector{moved}), expected) << row << ", " << column;
    }
}

TEST(ArcRows, WrongInput) {
  Rng rng(4);
  const Grid dot{.extent = {.rows = 1, .columns = 1}, .cells = {3}};
  Example broken{.name = "a", .input = encode(dot, {.side = 5, .row = 2}), .label = {}};
  broken.label = broken.input;
  broken.input.back() = kFirstColorToken;
  expect_error(ErrorCode::InvalidArgument, "no grid with end marks",
               [&] { return puzzles_of(std::vector{broken}); });
  broken.input.assign(25, 0);
  expect_error(ErrorCode::InvalidArgument, "no grid on the canvas",
               [&] { return puzzles_of(std::vector{broken}); });
  expect_error(ErrorCode::BadFile, "list: name 1: arc: bad variant name", [] {
    return Identifiers(std::vector<std::string>{"a", "a|||t9|||0123456789"}, "list");
  });
  Puzzle large{.name = "large", .train = {}, .test = {}};
  large.test.push_back(
      {.input = random_grid(Extent{.rows = 6, .columns = 2}, rng), .output = std::nullopt});
  expect_error(ErrorCode::InvalidArgument, "task large: arc: the grid does not fit",
               [&] { return rows(std::vector{large}, {.side = 5}, rng); });
  const testing::TempDir dir;
  const auto path = dir.path() / "identifiers.json";
  write_file_atomic(path, R"({"a": 1})");
  expect_error(ErrorCode::BadFile, "expected an array", [&] { return read_identifiers(path); });
  write_file_atomic(path, R"(["a", 1])");
  expect_error(ErrorCode::BadFile, "name 1 is not a string",
               [&] { return read_identifiers(path); });
  write_file_atomic(path, R"(["a", "b"])");
  EXPECT_EQ(read_identifiers(path), (std::vector<std::string>{"a", "b"}));
}

}  // namespace
}  // namespace driftless::task::arc
