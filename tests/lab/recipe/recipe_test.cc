// SPDX-License-Identifier: Apache-2.0
#include "driftless/lab/recipe/recipe.h"

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "tests/lab/tiny_run.h"
#include "tests/testing/expect_error.h"

namespace driftless::lab {
namespace {

using driftless::testing::expect_error;

std::string edited(const std::string& from, const std::string& to) {
  std::string text = testing::kTinyRecipe;
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

void expect_refused(const std::string& text, const std::string& word) {
  expect_error(ErrorCode::BadConfig, word, [&] { parse_recipe(text, "r.toml"); });
}

TEST(Recipe, ReadsEverySection) {
  const Recipe recipe = testing::tiny_recipe();
  ASSERT_EQ(recipe.pool.size(), 1u);
  EXPECT_EQ(recipe.pool[0].source.file, "boards.csv");
  EXPECT_EQ(recipe.model.hidden_size, 32);
  EXPECT_EQ(recipe.model.h_cycles, 2);
  EXPECT_EQ(recipe.seed, 5);
  EXPECT_DOUBLE_EQ(recipe.lr.peak, 1e-3);
  EXPECT_EQ(recipe.eval.file, "boards.csv");
  EXPECT_EQ(task_of(recipe).name, "sudoku");
}

TEST(Recipe, ErrorsNameLineAndNearestKey) {
  expect_refused(edited("warmup_steps", "warmup_step"), "'warmup_steps'");
  expect_refused(edited("warmup_steps", "warmup_step"), "r.toml:19");
  expect_refused(edited("[recursion]", "[recursions]"), "'recursion'");
  expect_refused(edited("seed = 5\n", ""), "train.seed");
  expect_refused(edited("seed = 5", "seed = 5\nseed = 6"), "r.toml:");
  expect_refused(edited("batch = 16", "batch = \"16\""), "a whole number");
  expect_refused(edited("batch = 16", "batch = 0"), "got 0");
  expect_refused(edited("[[task.pool]]\nfile = \"boards.csv\"\n", ""), "task.pool");
  expect_refused(edited("steps = 200", "steps = 200\ndecay_steps = 300"), "at most steps");
  expect_refused(edited("[model]", "[model"), "r.toml:4");
}

TEST(Recipe, ErrorsOfTheNewerKeys) {
  expect_refused(edited("[eval]\nfile = \"boards.csv\"\n", ""), "[eval]");
  expect_refused(edited("[eval]\nfile", "[eval]\ngenerate = 5\nfile"), "either 'file' or");
  expect_refused(edited("file = \"boards.csv\"\n[model]", "generate = 5\n[model]"),
                 "needs a 'seed'");
  expect_refused(
      edited("file = \"boards.csv\"\n[model]", "file = \"boards.csv\"\nextra_clues = 2\n[model]"),
      "goes with 'generate'");
  expect_refused("[task]\nname = \"mazes\"\n", "maze");
  expect_refused("[task]\nname = \"other\"\n", "one of sudoku, maze, arc");
  expect_refused(edited("[model]", "[model]\nmixer = \"token\""),
                 "expected one of attention, tokens");
  expect_refused(edited("[model]", "[model]\narch = \"trn\""), "trm");
  expect_refused("[task]\nname = \"sudoku\"\n[model]\npreset = \"trm-maze\"\n", "one for maze");
  expect_refused("[model]\npreset = \"trm-mazes\"\n", "did you mean 'trm-maze'");
  expect_refused("[model]\npreset = 3\n", "model.preset");
  std::string untied = edited("[model]", "[model]\narch = \"trm-untied\"");
  untied += "[[recursion.stage]]\nh_cycles = 1\nl_cycles = 1\n";
  expect_refused(untied, "no stages");
  expect_refused(edited("[train]", "[[recursion.stage]]\nh_cycles = 1\n[train]"),
                 "recursion.stage.l_cycles");
  expect_refused(edited("[train]",
                        "[[recursion.stage]]\nh_cycles = 1\nl_cycles = 1\n"
                        "[[recursion.stage]]\nh_cycles = 2\nl_cycles = 2\n[train]"),
                 "more than 0");
}

TEST(Recipe, PresetsAndTasksSetTheModel) {
  const std::string tail = "[train]\nseed = 1\nsteps = 2\n[eval]\nfile = \"a\"\n";
  const Recipe maze = parse_recipe(
      "[[task.pool]]\nfile = \"b\"\n[model]\npreset = \"trm-maze\"\nhidden_size = 128\n" + tail,
      "r");
  EXPECT_EQ(maze.task, "maze");
  EXPECT_EQ(maze.model.mixer, model::Mixer::Attention);
  EXPECT_EQ(maze.model.l_cycles, 4);
  EXPECT_EQ(maze.model.hidden_size, 128);
  const Recipe plain =
      parse_recipe("[task]\nname = \"maze\"\n[[task.pool]]\nfile = \"b\"\n" + tail, "r");
  EXPECT_EQ(plain.model.seq_len, 900);
  EXPECT_EQ(plain.model.vocab_size, 6);
}

TEST(Recipe, StagesSetTheCyclesByStep) {
  Recipe recipe = testing::tiny_recipe();
  recipe.stages = {{0, 1, 2}, {10, 2, 4}};
  EXPECT_EQ(model_at(recipe, 1).l_cycles, 2);
  EXPECT_EQ(model_at(recipe, 10).h_cycles, 1);
  EXPECT_EQ(model_at(recipe, 11).h_cycles, 2);
  EXPECT_EQ(model_at(recipe, 99).l_cycles, 4);
}

TEST(Recipe, RunsOfEarlierVersionsHaveTheDefaultsOfNewerKeys) {
  const Recipe recipe = testing::tiny_recipe();
  std::string saved = describe_text(recipe);
  const size_t at = saved.find("task.augment");
  saved.erase(at, saved.find('\n', at) + 1 - at);
  EXPECT_NO_THROW(require_resumable(recipe, saved));
  Recipe other = recipe;
  other.augment = false;
  expect_error(ErrorCode::BadConfig, "task.augment", [&] { require_resumable(other, saved); });
  Recipe fewer = recipe;
  fewer.pool.clear();
  expect_error(ErrorCode::BadConfig, "task.pool[0].file", [&] { require_resumable(fewer, saved); });
}

TEST(Recipe, TheRateOfScalesHasAnOldNameThatFilesKeep) {
  const std::string quant = std::string(testing::kTinyRecipe) + "[quant]\nweights = 'mxint4'\n";
  const Recipe now = parse_recipe(quant + "scale_lr = 0.25\n", "r.toml");
  const Recipe before = parse_recipe(quant + "step_lr = 0.25\n", "r.toml");
  EXPECT_EQ(now.quant.scale_lr, 0.25);
  EXPECT_EQ(before.quant.scale_lr, 0.25);
  EXPECT_EQ(describe_text(now), describe_text(before));
  EXPECT_NE(describe_text(now).find("quant.step_lr = 0.25\n"), std::string::npos);
  EXPECT_NO_THROW(require_resumable(now, describe_text(before)));
  expect_refused(quant + "scale_lr = 0.25\nstep_lr = 0.25\n", "old name");
  expect_refused(quant + "scale_lr = 2.0\n", "expected 0 to 1");
}

TEST(Recipe, ResumeAllowsALongerRunOnly) {
  const Recipe saved = testing::tiny_recipe();
  Recipe longer = saved;
  longer.lr.steps = 400;
  longer.lr.decay_steps = 100;
  EXPECT_NO_THROW(require_resumable(longer, describe_text(saved)));
  Recipe other = saved;
  other.batch = 8;
  other.pool[0].share = 2;
  expect_error(ErrorCode::BadConfig, "task.pool[0].share, train.batch",
               [&] { require_resumable(other, describe_text(saved)); });
}

TEST(Recipe, ShippedRecipesParse) {
  const std::filesystem::path root = DRIFTLESS_RECIPES;
  int64_t count = 0;
  for (const auto& folder : {root, root / "qat"})  // recipes of studies have their own folder
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      if (entry.path().extension() != ".toml") continue;
      std::ostringstream text;
      text << std::ifstream(entry.path()).rdbuf();
      const Recipe recipe = parse_recipe(text.str(), entry.path().string());
      EXPECT_EQ(recipe.has_quant, folder != root) << entry.path();
      ++count;
    }
  EXPECT_GE(count, 18);
}

}  // namespace
}  // namespace driftless::lab
