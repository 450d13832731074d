// SPDX-License-Identifier: Apache-2.0
// driftless trace: records trajectories of a few boards for the player of a report.
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "driftless/cli/command.h"
#include "driftless/cli/flags/run_flags.h"
#include "driftless/cli/study_input.h"
#include "driftless/cli/terminal/progress.h"
#include "driftless/cli/terminal/streams.h"
#include "driftless/study/record/trace.h"

namespace driftless::cli {
namespace {

struct TraceOptions {
  run::StudyOptions flags;
  run::SchemeRows rows{.schemes{"none", "int4/tensor/static", "mxint4", "mxint4,rule=mse"}};
};

void run_trace(const TraceOptions& options) {
  const run::StudyFiles files = open_study(options.flags);
  const study::StudyInput input = files.input("trace");
  std::vector<study::Row> rows = run::resolve(options.rows, input.config);
  files.complete(rows);
  const study::Json trace = [&] {
    const Progress progress("tracing");
    return study::make_trace(rows, input, files.backend());
  }();
  write_output(options.flags.out, trace.dump() + "\n");
  std::fprintf(stream_beside(options.flags.out), "%s: %zu boards, %zu schemes, %s steps\n",
               options.flags.out.c_str(), input.examples.size(), rows.size(),
               trace.at("steps").dump().c_str());
}

}  // namespace

void add_trace_command(const Verb& verb) {
  auto options = std::make_shared<TraceOptions>();
  options->flags.limit = 8;
  verb.add_input("model", options->flags.model, "checkpoint (safetensors)").required();
  verb.add_input("--data", options->flags.data, "boards with answers").required();
  add_scheme_row_flags(verb, options->rows);
  add_study_flags(verb, options->flags);
  add_calibration_flags(verb, options->flags.calibration);
  verb.add_output("--out", options->flags.out, "the trace (JSON), or -").required();
  verb.example(
      "driftless trace models/sudoku-small.safetensors --data models/demo-sudoku.csv "
      "--limit 2 --schemes none int4/tensor mxint4 --out trace.json");
  verb.runs([options] { run_trace(*options); });
}

}  // namespace driftless::cli
