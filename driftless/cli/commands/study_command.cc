// SPDX-License-Identifier: Apache-2.0
// driftless study: runs a recipe of post-training quantization experiments.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "driftless/base/error.h"
#include "driftless/base/files/text_file.h"
#include "driftless/base/text/text.h"
#include "driftless/cli/command.h"
#include "driftless/cli/data_folder.h"
#include "driftless/cli/flags/run_flags.h"
#include "driftless/cli/model_input.h"
#include "driftless/cli/report_page.h"
#include "driftless/cli/study_input.h"
#include "driftless/cli/terminal/terminal.h"
#include "driftless/cli/terminal/watch.h"
#include "driftless/run/study/run_study.h"
#include "driftless/study/ladder.h"
#include "driftless/study/recipe.h"

namespace driftless::cli {
namespace {

struct StudyCommandOptions {
  run::StudyOptions flags;
  std::string recipe;
  std::string rows;  // empty: all
  ColorFlag color;
};

std::filesystem::path recipes_folder() { return data_folder("recipes") / "study"; }

/// The names of the project's recipes, in order.
std::vector<std::string> recipe_names() {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(recipes_folder(), ignored))
    if (entry.path().extension() == ".toml") names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

/// The first sentence of the comment that a recipe opens with, which says what it asks.
std::string purpose_of(const std::filesystem::path& recipe) {
  const std::string text = read_text(recipe);
  std::string comment;
  for (const std::string_view line : lines_of(text)) {
    if (!line.starts_with("# ")) break;
    comment += std::string(line.substr(2)) + " ";
  }
  const size_t end = std::min(comment.find(". "), comment.find("? "));
  return comment.substr(0, end == std::string::npos ? end : end + 1);
}

void list_recipes() {
  for (const std::string& name : recipe_names())
    std::printf("%-24s %s\n", name.c_str(),
                purpose_of(recipes_folder() / (name + ".toml")).c_str());
}

/// A file, or the name of one of the project's recipes.
std::filesystem::path find_recipe(const std::string& recipe) {
  std::error_code ignored;
  if (std::filesystem::exists(recipe, ignored)) return recipe;
  std::filesystem::path named = recipes_folder() / (recipe + ".toml");
  if (std::filesystem::exists(named, ignored)) return named;
  const std::vector<std::string> names = recipe_names();
  const std::vector<std::string_view> views(names.begin(), names.end());
  fail(ErrorCode::InvalidArgument, "no recipe '", recipe, "'; expected a file or one of ",
       join(views, ", "), did_you_mean(recipe, views));
}

/// A stretch of a recipe's rows.
struct Stretch {
  int64_t first;
  int64_t count;
};

/// "FIRST-LAST" or "ROW", counted from 0 as in the records.
Stretch parse_stretch(const std::string& text, int64_t count) {
  const size_t dash = text.find('-');
  const std::optional<int64_t> first = parse_int(text.substr(0, dash));
  const std::optional<int64_t> last =
      dash == std::string::npos ? first : parse_int(text.substr(dash + 1));
  const bool is_sound = first && last && *first >= 0 && *first <= *last && *last < count;
  DRIFTLESS_REQUIRE(is_sound, ErrorCode::InvalidArgument, "--rows; got '", text,
                    "', expected FIRST-LAST or one row, within 0-", count - 1);
  return {*first, *last - *first + 1};
}

void run_recipe(const StudyCommandOptions& options) {
  study::StudyRecipe recipe = study::load_recipe(find_recipe(options.recipe));
  for (const std::string& override : options.flags.overrides)
    study::override_rows(recipe, override);
  const run::StudyFiles files = open_study(options.flags);
  std::vector<study::Row> rows = study::rows_for(recipe, files.checkpoint().config);
  const Stretch stretch = options.rows.empty() ? Stretch{0, std::ssize(rows)}
                                               : parse_stretch(options.rows, std::ssize(rows));
  const auto asked = std::span(rows).subspan(static_cast<size_t>(stretch.first),
                                             static_cast<size_t>(stretch.count));
  files.complete(asked);
  const std::vector<study::Json> records =
      run::run_study(files, {.name = recipe.name,
                             .rows = asked,
                             .first_row = stretch.first,
                             .watch = watch_study(recipe.name)});
  if (records.empty()) return;  // another rank has them
  if (options.flags.out.empty()) {
    for (const study::Json& record : records) std::printf("%s\n", record.dump().c_str());
    return;
  }
  const bool has_color = find_ink(options.color, find_terminal()) == Ink::Colored;
  const auto style = has_color ? study::TableStyle::Colored : study::TableStyle::Plain;
  std::printf("%s%s\n", study::ladder_table(records, style).c_str(),
              run::calibration_notes(records).c_str());
  write_report_beside(options.flags.out);
}

}  // namespace

void add_study_command(const Verb& verb) {
  auto options = std::make_shared<StudyCommandOptions>();
  verb.add_input("recipe", options->recipe, "a recipe (TOML), or the name of one in recipes/study")
      .required();
  const Flag model =
      verb.add_input("model", options->flags.model, "checkpoint (default: the bundled one)");
  verb.accepts_old("--model", model);
  verb.add_input("--data", options->flags.data,
                 "boards with answers: a file of the model's task, a data-set folder, or -")
      .required();
  add_study_flags(verb, options->flags);
  add_calibration_flags(verb, options->flags.calibration);
  verb.add_output("--out", options->flags.out,
                  "append records to this file, skip those it has, and write a report beside it "
                  "(.html); default: print them");
  verb.also_uses({"the report beside --out", FileRole::Output, [options] {
                    return std::vector<std::filesystem::path>{report_beside(options->flags.out)};
                  }});
  verb.add_option(
      "--rows", options->rows,
      "only these rows of the recipe, such as 5-9, counted from 0; their records may be "
      "joined with those of others");
  verb.add_switch(
      "--list",
      [] {
        list_recipes();
        end_with(0);
      },
      "print the recipes in recipes/study with what they ask");
  verb.add_option("--set", options->flags.overrides, "KEY=VALUE in every row of the recipe")
      .refuses_files();
  add_color_flag(verb, options->color);
  verb.example(
      "driftless study granularity --data models/demo-sudoku.csv --limit 8 "
      "--out granularity.jsonl");
  verb.runs([options] {
    if (options->flags.model.empty()) options->flags.model = default_model().string();
    run_recipe(*options);
  });
}

}  // namespace driftless::cli
