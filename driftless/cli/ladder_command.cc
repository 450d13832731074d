// SPDX-License-Identifier: Apache-2.0
// driftless ladder: what each number format does to a model.
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include <unistd.h>

#include "driftless/cli/command.h"
#include "driftless/cli/study_input.h"
#include "driftless/study/ladder.h"

namespace driftless::cli {
namespace {

struct Options {
  StudyFlags flags;
  std::vector<std::string> schemes{study::kLadder.begin(), study::kLadder.end()};
  std::string coverage = "block";
  int64_t steps = 0;
  int64_t calibration_boards = 0;  // 0: 200, or all where there are fewer
  int64_t calibration_seed = 1;
  bool as_json = false;
  bool as_markdown = false;
};

std::vector<study::Row> rows_of(const Options& options, const study::StudyInput& input) {
  std::vector<study::Row> rows;
  rows.reserve(options.schemes.size());
  for (const std::string& scheme : options.schemes) {
    study::Row row = study::ladder_row(scheme);
    row.scheme.coverage = quant::parse_coverage(options.coverage);
    row.steps = options.steps;
    row.calibration_seed = options.calibration_seed;
    row.calibration_boards = options.calibration_boards > 0
                                 ? options.calibration_boards
                                 : std::min<int64_t>(200, std::ssize(input.calibration));
    rows.push_back(study::resolve(row, input.config));
  }
  return rows;
}

void print(const std::vector<study::Json>& records, const Options& options) {
  if (options.as_json) {
    const study::Json sorted = study::sort_for_ladder(records);
    std::printf("%s\n", sorted.dump(2).c_str());
    return;
  }
  const bool has_color = isatty(STDOUT_FILENO) == 1 && std::getenv("NO_COLOR") == nullptr;
  const auto style = options.as_markdown ? study::TableStyle::Markdown
                     : has_color         ? study::TableStyle::Colored
                                         : study::TableStyle::Plain;
  std::printf("%s", study::ladder_table(records, style).c_str());
  const study::Json& first = records.front();
  const std::string note =
      "n " + first.at("n").dump() + " boards of " + first.at("data").at("file").get<std::string>() +
      ", " + first.at("config").at("steps").dump() + " steps, coverage " + options.coverage +
      "; intervals 95 %; p: McNemar's exact test; time: of " + "the float model's steps";
  std::printf("%s%s\n", options.as_markdown ? "\n" : "", note.c_str());
}

void run(const Options& options) {
  const StudyFiles files(options.flags);
  const std::vector<study::Row> rows = rows_of(options, files.input("ladder"));
  const std::vector<study::Json> records = run_study(files, options.flags, "ladder", rows);
  if (!records.empty()) print(records, options);
}

}  // namespace

void add_ladder_command(CLI::App& verb) {
  auto options = std::make_shared<Options>();
  verb.add_option("model", options->flags.model, "checkpoint (safetensors)")->required();
  verb.add_option("--data", options->flags.data, "boards with answers")->required();
  verb.add_option("--schemes", options->schemes,
                  "quantizers for weights and activations, or WEIGHTS:ACTIVATIONS, instead of the "
                  "built-in list");
  verb.add_option("--coverage", options->coverage, "block: the recursive block; linear: heads too")
      ->capture_default_str();
  verb.add_option("--steps", options->steps, "supervision steps (default: the model's)")
      ->check(CLI::PositiveNumber);
  verb.add_option("--calibration-boards", options->calibration_boards,
                  "boards for static scales (default: 200, or all where there are fewer)")
      ->check(CLI::PositiveNumber);
  verb.add_option("--calibration-seed", options->calibration_seed, "of their draw")
      ->capture_default_str();
  add_study_flags(verb, options->flags);
  verb.add_option("--out", options->flags.out, "append records to this file, skip those it has");
  CLI::Option* const json = verb.add_flag("--json", options->as_json, "print records as JSON");
  verb.add_flag("--markdown", options->as_markdown, "print a Markdown table")->excludes(json);
  show_example(verb,
               "driftless ladder models/sudoku-small.safetensors --data models/demo-sudoku.csv "
               "--limit 8 --schemes none int8/tensor/static mxint4");
  verb.callback([options] { run(*options); });
}

}  // namespace driftless::cli
