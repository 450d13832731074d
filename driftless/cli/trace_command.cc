// SPDX-License-Identifier: Apache-2.0
// driftless trace: records trajectories of a few boards for the player of a report.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "driftless/base/file.h"
#include "driftless/cli/command.h"
#include "driftless/cli/study_input.h"
#include "driftless/study/ladder.h"
#include "driftless/study/trace.h"

namespace driftless::cli {
namespace {

struct Options {
  StudyFlags flags;
  std::vector<std::string> schemes{"none", "int4/tensor/static", "mxint4", "mxint4,rule=mse"};
  std::string coverage = "block";
  int64_t steps = 0;
};

void run(const Options& options) {
  const StudyFiles files(options.flags);
  const study::StudyInput input = files.input("trace");
  std::vector<study::Row> rows;
  for (const std::string& scheme : options.schemes) {
    study::Row row = study::ladder_row(scheme);
    row.scheme.coverage = quant::parse_coverage(options.coverage);
    row.steps = options.steps;
    row.calibration_boards = std::min<int64_t>(200, std::ssize(input.calibration));
    rows.push_back(study::resolve(row, input.config));
  }
  const study::Json trace = study::make_trace(rows, input, files.backend());
  write_file_atomic(options.flags.out, trace.dump() + "\n");
  std::printf("%s: %zu boards, %zu schemes, %s steps\n", options.flags.out.c_str(),
              input.examples.size(), rows.size(), trace.at("steps").dump().c_str());
}

}  // namespace

void add_trace_command(CLI::App& verb) {
  auto options = std::make_shared<Options>();
  options->flags.limit = 8;
  verb.add_option("model", options->flags.model, "checkpoint (safetensors)")->required();
  verb.add_option("--data", options->flags.data, "boards with answers")->required();
  verb.add_option("--schemes", options->schemes,
                  "quantizers for weights and activations, or WEIGHTS:ACTIVATIONS")
      ->capture_default_str();
  verb.add_option("--coverage", options->coverage, "block: the recursive block; linear: heads too")
      ->capture_default_str();
  verb.add_option("--steps", options->steps, "supervision steps (default: the model's)")
      ->check(CLI::PositiveNumber);
  add_study_flags(verb, options->flags);
  verb.add_option("--out", options->flags.out, "the trace (JSON)")->required();
  show_example(verb,
               "driftless trace models/sudoku-small.safetensors --data models/demo-sudoku.csv "
               "--limit 8 --schemes none int4/tensor/static mxint4 --out trace.json");
  verb.callback([options] { run(*options); });
}

}  // namespace driftless::cli
