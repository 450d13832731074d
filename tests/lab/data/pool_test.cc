// SPDX-License-Identifier: Apache-2.0
#include "driftless/lab/data/pool.h"

#include <algorithm>
#include <functional>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "driftless/base/files/file.h"
#include "driftless/task/maze/csv.h"
#include "driftless/task/maze/generator.h"
#include "driftless/task/sudoku/csv.h"

#include "tests/lab/tiny_run.h"
#include "tests/testing/expect_error.h"
#include "tests/testing/shared_data.h"
#include "tests/testing/temp_dir.h"

namespace driftless::lab {
namespace {

using driftless::testing::expect_error;
using driftless::testing::TempDir;

const std::function<void(std::string_view)> kQuiet = [](std::string_view) {};

Recipe generated_recipe() {
  Recipe recipe = testing::tiny_recipe();
  recipe.pool[0].source = {.file = {}, .generate = 200, .seed = 1, .extra_clues = 4};
  recipe.eval = {.file = {}, .generate = 40, .seed = 2, .extra_clues = 4};
  return recipe;
}

TEST(Pool, GeneratedBoardsAreDisjointUpToSymmetry) {
  const Recipe recipe = generated_recipe();
  const auto held_out = read_held_out(recipe, "");
  EXPECT_EQ(held_out.size(), 40u);
  std::set<std::string> forms;
  for (const auto& board : held_out) forms.insert(canonical_text(testing::sudoku(), board));
  EXPECT_EQ(forms.size(), 40u);
  const BoardPool pool = read_pool(recipe, "", held_out, kQuiet);
  EXPECT_EQ(pool.cells(), 16);
  Rng rng(1);
  for (int64_t i = 0; i < 300; ++i)
    EXPECT_FALSE(forms.contains(canonical_text(testing::sudoku(), pool.draw(rng)))) << i;
  // The same seed, the same boards.
  EXPECT_EQ(read_held_out(recipe, "")[39].input, held_out[39].input);
}

TEST(Pool, MakesMazes) {
  Recipe recipe = testing::tiny_recipe();
  recipe.task = "maze";
  recipe.model.task = "maze";
  recipe.model.seq_len = 64;
  recipe.pool[0].source = {.file = {}, .generate = 30, .seed = 1, .min_path = 9};
  recipe.eval = {.file = {}, .generate = 5, .seed = 1, .min_path = 9};
  const auto held_out = read_held_out(recipe, ".");
  ASSERT_EQ(held_out.size(), 5u);
  const BoardPool pool = read_pool(recipe, ".", held_out, kQuiet);
  std::vector<task::Example> drawn;
  Rng rng(2);
  for (int64_t i = 0; i < 50; ++i) {
    drawn.push_back(pool.draw(rng));
    const std::string text = to_text(pool.task(), drawn.back().label);
    EXPECT_GE(std::count(text.begin(), text.end(), 'o'), 9 - 2) << "path without its ends";
  }
  EXPECT_EQ(count_equivalent(pool.task(), drawn, held_out), 0) << "the same seed made both";
}

TEST(Pool, ReadsFilesByRatingAndRefusesOtherSizes) {
  const TempDir folder;
  Rng rng(3);
  std::vector<task::sudoku::Puzzle> puzzles;
  for (int64_t i = 0; i < 4; ++i) puzzles.push_back(task::sudoku::generate({.box = 2}, rng));
  for (size_t i = 0; i < 4; ++i) puzzles[i].rating = static_cast<int64_t>(i);
  write_file_atomic(folder.path() / "boards.csv", task::sudoku::to_csv(puzzles));
  Recipe recipe = testing::tiny_recipe();
  recipe.pool[0].source.min_rating = 3;
  std::string said;
  read_pool(recipe, folder.path(), {}, [&](std::string_view line) { said = line; });
  EXPECT_EQ(said, "pool: boards.csv, 1 boards, share 1");
  recipe.pool[0].source.min_rating = 9;
  expect_error(ErrorCode::BadConfig, "min_rating",
               [&] { read_pool(recipe, folder.path(), {}, kQuiet); });
  recipe.model.seq_len = 81;
  expect_error(ErrorCode::BadConfig, "16 cells, expected 81",
               [&] { read_held_out(recipe, folder.path()); });
}

TEST(Pool, RefusesBoardsOfAnotherTask) {
  const TempDir folder;
  Rng rng(3);
  const std::vector<task::maze::Puzzle> mazes = {
      task::maze::generate({.side = 8, .min_path_cells = 6}, rng)};
  write_file_atomic(folder.path() / "boards.csv", task::maze::to_csv(mazes));
  expect_error(ErrorCode::BadFile, "boards.csv",
               [&] { read_held_out(testing::tiny_recipe(), folder.path()); });
  expect_error(ErrorCode::Io, "boards.csv",
               [&] { read_held_out(testing::tiny_recipe(), folder.path() / "nowhere"); });
}

TEST(Pool, SaysWhenTheGeneratorHasNoMoreBoards) {
  Recipe recipe = generated_recipe();
  recipe.eval = {.file = {}, .generate = 50, .seed = 2};  // minimal 4x4 boards have 36 kinds
  expect_error(ErrorCode::BadConfig, "extra_clues", [&] { read_held_out(recipe, ""); });
}

TEST(CountEquivalent, SeesThroughSymmetries) {
  Rng rng(9);
  const Recipe recipe = generated_recipe();
  const auto held_out = read_held_out(recipe, "");
  const BoardPool pool = read_pool(recipe, "", held_out, kQuiet);
  std::vector<task::Example> boards = {pool.draw(rng)};
  EXPECT_EQ(count_equivalent(testing::sudoku(), boards, held_out), 0);
  boards.push_back(random_image(testing::sudoku(), held_out[2], rng));
  EXPECT_EQ(count_equivalent(testing::sudoku(), boards, held_out), 1);
}

TEST(RequireDisjoint, CountsTheSharedBoards) {
  const TempDir folder;
  Rng rng(3);
  const std::vector<task::sudoku::Puzzle> puzzles = {task::sudoku::generate({.box = 2}, rng)};
  write_file_atomic(folder.path() / "boards.csv", task::sudoku::to_csv(puzzles));
  expect_error(ErrorCode::BadConfig, "got 1 training boards",
               [&] { require_disjoint(testing::tiny_recipe(), folder.path(), kQuiet); });
}

TEST(RequireDisjoint, PublishedTrainingBoardsAreNotTestBoards) {
  const auto train = driftless::testing::shared_path("data/sudoku/sudoku_extreme_train.csv");
  const auto test = driftless::testing::shared_path("data/sudoku/sudoku_extreme_test.csv");
  DRIFTLESS_NEEDS_FILE(train);
  DRIFTLESS_NEEDS_FILE(test);
  auto boards = task::read_examples(testing::sudoku(), test);
  boards.resize(1000);
  EXPECT_EQ(
      count_equivalent(testing::sudoku(), task::read_examples(testing::sudoku(), train), boards),
      0);
}

}  // namespace
}  // namespace driftless::lab
