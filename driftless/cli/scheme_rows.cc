// SPDX-License-Identifier: Apache-2.0
#include "driftless/cli/scheme_rows.h"

#include <algorithm>

#include "driftless/native/native_reasoner.h"
#include "driftless/study/ladder.h"

namespace driftless::cli {

void add_scheme_row_flags(CLI::App& verb, SchemeRows& rows) {
  verb.add_option("--schemes", rows.schemes,
                  "quantizers for weights and activations, or WEIGHTS:ACTIVATIONS")
      ->capture_default_str();
  verb.add_option("--coverage", rows.coverage, "block: the recursive block; linear: heads too")
      ->capture_default_str();
  verb.add_option("--steps", rows.steps, "supervision steps (default: the model's)")
      ->check(CLI::PositiveNumber);
  verb.add_option("--calibration-boards", rows.calibration_boards,
                  "boards for static scales (default: 200, or all where there are fewer)")
      ->check(CLI::PositiveNumber);
  verb.add_option("--calibration-seed", rows.calibration_seed, "of their draw")
      ->capture_default_str();
}

std::vector<study::Row> resolve(const SchemeRows& rows, const study::StudyInput& input) {
  std::vector<study::Row> resolved;
  resolved.reserve(rows.schemes.size());
  for (const std::string& scheme : rows.schemes) {
    study::Row row = study::ladder_row(scheme);
    if (input.origin.backend == "native") {
      row.scheme.weights = native::with_window(row.scheme.weights);
      row.scheme.acts = native::with_window(row.scheme.acts);
    }
    row.scheme.coverage = quant::parse_coverage(rows.coverage);
    row.steps = rows.steps;
    row.calibration_seed = rows.calibration_seed;
    row.calibration_boards = rows.calibration_boards > 0
                                 ? rows.calibration_boards
                                 : std::min<int64_t>(200, std::ssize(input.calibration));
    resolved.push_back(study::resolve(row, input.config));
  }
  return resolved;
}

}  // namespace driftless::cli
