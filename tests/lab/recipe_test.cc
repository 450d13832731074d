// SPDX-License-Identifier: Apache-2.0
#include "driftless/lab/recipe.h"

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
  EXPECT_EQ(recipe.pool[0].file, "boards.csv");
  EXPECT_EQ(recipe.model.hidden_size, 32);
  EXPECT_EQ(recipe.model.h_cycles, 2);
  EXPECT_EQ(recipe.seed, 5);
  EXPECT_DOUBLE_EQ(recipe.lr.peak, 1e-3);
  EXPECT_EQ(recipe.eval_file, "boards.csv");
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
  const auto root = std::filesystem::path(__FILE__).parent_path() / "../../recipes";
  int64_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(root)) {
    std::ostringstream text;
    text << std::ifstream(entry.path()).rdbuf();
    EXPECT_NO_THROW(parse_recipe(text.str(), entry.path().string()));
    ++count;
  }
  EXPECT_GE(count, 1);
}

}  // namespace
}  // namespace driftless::lab
