// SPDX-License-Identifier: Apache-2.0
#include "driftless/study/recipe.h"

#include <filesystem>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "driftless/model/presets.h"

#include "tests/testing/expect_error.h"

namespace driftless::study {
namespace {

StudyRecipe parse(const std::string& rows) {
  return parse_recipe("[study]\nname = \"s\"\n" + rows, "recipe");
}

TEST(Recipe, ListsMakeCombinationsWithTheLastKeyFastest) {
  const StudyRecipe recipe = parse(
      "[defaults]\nsteps = 3\nweights = \"int4\"\n"
      "[[rows]]\nacts = [\"int4/token\", \"none\"]\nl_cycles = [1, 2]\n"
      "[[rows]]\nboth = \"mxint4,rule=mse\"\nsteps = 5\ncoherence = true\nsmooth = 0.5\n"
      "attention = \"int8\"");
  ASSERT_EQ(recipe.rows.size(), 5u);
  EXPECT_EQ(recipe.name, "s");
  EXPECT_EQ(quant::to_string(recipe.rows[1].scheme.acts), "int4/token");
  EXPECT_EQ(recipe.rows[1].l_cycles, 2);
  EXPECT_TRUE(recipe.rows[2].scheme.acts.is_none());
  EXPECT_EQ(recipe.rows[2].steps, 3);
  const Row& last = recipe.rows[4];
  EXPECT_EQ(quant::to_string(last.scheme.weights), "mxint4,rule=mse");
  EXPECT_EQ(last.scheme.weights, last.scheme.acts);
  EXPECT_EQ(last.steps, 5);
  EXPECT_TRUE(last.coherence);
  EXPECT_EQ(last.scheme.smooth, 0.5);
  EXPECT_EQ(last.scheme.attention, quant::AttentionPrecision::Int8);
  EXPECT_EQ(to_json(last).at("attention"), "int8");
  EXPECT_FALSE(to_json(recipe.rows[1]).contains("attention"));
}

TEST(Recipe, SeedsMatterOnlyWhereThereIsACalibration) {
  const StudyRecipe recipe =
      parse("[[rows]]\nboth = [\"int4/tensor/static\", \"mxint4\"]\ncalibration_seed = [1, 2, 3]");
  EXPECT_EQ(recipe.rows.size(), 6u);
  const model::ModelConfig config = model::find_preset("trm-sudoku-mlp").config;
  const std::vector<Row> rows = rows_for(recipe, config);
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_EQ(rows[2].calibration_seed, 3);
  EXPECT_EQ(rows[3].steps, config.halt_max_steps);
  EXPECT_EQ(rows[3].l_cycles, config.l_cycles);
}

TEST(Recipe, OverridesReachEveryRow) {
  StudyRecipe recipe = parse("[[rows]]\nboth = [\"int4/tensor/static\", \"mxint4\"]\nsteps = 16");
  override_rows(recipe, "steps=2");
  override_rows(recipe, "acts=int8/token");
  for (const Row& row : recipe.rows) {
    EXPECT_EQ(row.steps, 2);
    EXPECT_EQ(quant::to_string(row.scheme.acts), "int8/token");
  }
  EXPECT_ERROR(override_rows(recipe, "steps"), ErrorCode::BadConfig, "key=value");
  EXPECT_ERROR(override_rows(recipe, "step=2"), ErrorCode::BadConfig, "did you mean 'steps'");
}

TEST(Recipe, RejectsBadInput) {
  const auto code = ErrorCode::BadConfig;
  EXPECT_ERROR(parse_recipe("[[rows]]\nboth = \"int4\"", "r"), code, "[study]");
  EXPECT_ERROR(parse(""), code, "no [[rows]]");
  EXPECT_ERROR(parse("[[rows]]\nstep = 3"), code, "recipe:4: unknown key 'step'");
  EXPECT_ERROR(parse("[[rows]]\nsteps = \"3\""), code, "whole number");
  EXPECT_ERROR(parse("[[rows]]\nsteps = 0"), code, "expected 1 to");
  EXPECT_ERROR(parse("[[rows]]\nweights = \"int3x\""), code, "recipe:4: weights");
  EXPECT_ERROR(parse("[[rows]]\nattention = \"mxint8\""), code, "did you mean 'int8'");
  EXPECT_ERROR(parse("[[rows]]\nnoise = -1"), code, "0 to 1000");
  EXPECT_ERROR(parse("[[rows]]\nsteps = []"), code, "steps; expected 1 to");
  EXPECT_ERROR(parse("[row]"), code, "did you mean 'rows'");
  EXPECT_ERROR(parse("[[rows"), code, "recipe:3");
  EXPECT_ERROR(load_recipe("/nowhere.toml"), ErrorCode::Io, "nowhere");
}

TEST(Recipe, MalformedKeysAndValuesAreErrorsInEveryBuild) {
  const auto code = ErrorCode::BadConfig;
  for (const char* const text : {"[.x]", "[=]", "[[.]]", "[ \n]", "a = [}", "a = [#", "a.=1", "=1",
                                 "a = 2000-01-01 1,", "a = {.b=1}", "[[a]", "a = [1}", "[\"\"\"a"})
    EXPECT_ERROR(parse(std::string("[[rows]]\n") + text), code, "recipe:");
  EXPECT_ERROR(parse("[[rows]]\n\n[.x]\n"), code, "recipe:5: ");
  EXPECT_ERROR(parse("[[rows]]\nsteps = [1,\n}, 2]\n\n"), code, "recipe:5: ");
}

TEST(Recipe, LettersOutsideAsciiStandInCommentsAndStringsOfOneLine) {
  const auto code = ErrorCode::BadConfig;
  for (const char* const text : {"A\u0121 = 1", "a = 1 \u0121", "a = \"b\" \u0121",
                                 "a = 'b\\' \u0121", "\"\"\"a\"\"\"\"\u0121", "a = '''\u0121'''"})
    EXPECT_ERROR(parse(std::string("\n") + text), code, "recipe:4: got a letter outside ASCII");
  EXPECT_ERROR(parse("# \u0121\nrows = \"a\\\"\u0121\"\n[=]"), code, "recipe:5: malformed TOML");
}

TEST(Recipe, KeysThatOpenTablesWithoutEndAreRefusedBeforeTheyCostAnything) {
  const auto code = ErrorCode::BadConfig;
  std::string dots;
  for (int i = 0; i < 100000; ++i) dots += "a.";
  EXPECT_ERROR(parse(dots + "a = 1"), code, "recipe:3: got more than 64 dots in a line");
  EXPECT_ERROR(parse("[" + dots + "a]"), code, "recipe:3: got more than 64 dots");
  EXPECT_ERROR(parse("a = " + std::string(1000, '[')), code, "recipe:3: ");
  EXPECT_ERROR(parse("# " + std::string(1 << 18, '#')), code, "expected at most 262144");
}

TEST(Recipe, EveryRecipeOfTheProjectIsSound) {
  const model::ModelConfig config = model::find_preset("trm-sudoku-mlp").config;
  int64_t recipes = 0;
  for (const auto& entry : std::filesystem::directory_iterator(DRIFTLESS_STUDY_RECIPES)) {
    const StudyRecipe recipe = load_recipe(entry.path());
    EXPECT_EQ(recipe.name, entry.path().stem().string());
    EXPECT_FALSE(rows_for(recipe, config).empty()) << recipe.name;
    ++recipes;
  }
  EXPECT_GE(recipes, 16);
}

}  // namespace
}  // namespace driftless::study
