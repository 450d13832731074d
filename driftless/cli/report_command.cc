// SPDX-License-Identifier: Apache-2.0
// driftless report: turns results into one page.
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "driftless/base/file.h"
#include "driftless/cli/command.h"
#include "driftless/report/page.h"
#include "driftless/study/bench_record.h"
#include "driftless/study/qat_record.h"
#include "driftless/study/record.h"
#include "driftless/study/trace.h"

namespace driftless::cli {
namespace {

struct Options {
  std::vector<std::string> results;
  std::string title = "driftless: does the trajectory survive?";
  std::string out;
};

/// A check of the study's as one of the report's.
report::Check check_with(void (*require)(const study::Json&, std::string_view)) {
  return [require](const report::Json& line, std::string_view where) {
    require(study::Json(line), where);
  };
}

void run(const Options& options) {
  const report::Checks checks{.record = check_with(study::require_record),
                              .qat = check_with(study::require_qat_record),
                              .bench = check_with(study::require_bench_record),
                              .trace = check_with(study::require_trace)};
  report::Results results;
  for (const std::string& file : options.results) report::add_file(file, checks, results);
  const std::string page =
      report::render_page(results, {.title = options.title, .version = DRIFTLESS_VERSION});
  write_file_atomic(options.out, page);
  for (const report::Skipped& line : results.skipped)
    std::fprintf(stderr, "warning: skipped %s\n", line.reason.c_str());
  std::printf(
      "%s: %zu records, %zu traces, %zu claims, %zu lines skipped; %.1f MiB\n", options.out.c_str(),
      results.records.size() + results.qat.size() + results.benches.size(), results.traces.size(),
      results.claims.size(), results.skipped.size(), static_cast<double>(page.size()) / (1 << 20));
}

}  // namespace

void add_report_command(CLI::App& verb) {
  auto options = std::make_shared<Options>();
  verb.add_option("results", options->results,
                  "records of study, ladder and qat (JSON Lines), of bench (JSON), traces, claims")
      ->required();
  verb.add_option("--title", options->title, "of the page")->capture_default_str();
  verb.add_option("--out", options->out, "the page (HTML)")->required();
  show_example(verb, "driftless report ladder.jsonl trace.json --out report.html");
  verb.callback([options] { run(*options); });
}

}  // namespace driftless::cli
