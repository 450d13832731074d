// SPDX-License-Identifier: Apache-2.0
#include "driftless/cli/report_page.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "driftless/base/error.h"
#include "driftless/base/text/one_line.h"
#include "driftless/cli/terminal/streams.h"
#include "driftless/cli/web_files.h"
#include "driftless/report/page.h"
#include "driftless/study/record/bench_record.h"
#include "driftless/study/record/qat_record.h"
#include "driftless/study/record/record.h"
#include "driftless/study/record/trace.h"

namespace driftless::cli {
namespace {

/// A check of the study's as one of the report's.
report::Check check_with(void (*require)(const study::Json&, std::string_view)) {
  return [require](const report::Json& line, std::string_view where) {
    require(study::Json(line), where);
  };
}

/// Every line of a file may be wrong; the first few say how.
void warn_of(const std::vector<report::Skipped>& skipped) {
  constexpr size_t kShown = 10;
  for (size_t i = 0; i < std::min(kShown, skipped.size()); ++i)
    std::fprintf(stderr, "warning: skipped %s\n", one_line(skipped[i].reason).c_str());
  if (skipped.size() > kShown)
    std::fprintf(stderr, "warning: skipped %zu more lines\n", skipped.size() - kShown);
}

report::Results read_results(const std::vector<std::string>& results) {
  const report::Checks checks{.record = check_with(study::require_record),
                              .qat = check_with(study::require_qat_record),
                              .bench = check_with(study::require_bench_record),
                              .trace = check_with(study::require_trace)};
  report::Results read;
  for (const std::string& file : results)
    if (file == kStandardStream)
      report::add_text(standard_input(), kStandardInput, checks, read);
    else
      report::add_file(file, checks, read);
  warn_of(read.skipped);
  const bool is_empty = read.records.empty() && read.qat.empty() && read.benches.empty() &&
                        read.traces.empty() && read.claims.empty() && read.evals.empty() &&
                        read.logs.empty();
  const std::string lines =
      read.skipped.empty() ? "an empty file" : std::to_string(read.skipped.size()) + " lines";
  DRIFTLESS_REQUIRE(!is_empty, ErrorCode::BadFile, results.front(), ": nothing to report; got ",
                    lines, read.skipped.empty() ? "" : ", all skipped");
  return read;
}

}  // namespace

void write_report(const std::vector<std::string>& results, const ReportChoice& choice,
                  const std::string& out) {
  const report::Results read = read_results(results);
  const std::string& model = choice.live_model;
  DRIFTLESS_REQUIRE(model.empty() || !read.traces.empty(), ErrorCode::InvalidArgument,
                    "report: --live runs boards in a board player; got no trace, expected one of ",
                    "driftless trace among the results");
  const std::string page =
      report::render_page(read, {.title = choice.title,
                                 .version = DRIFTLESS_VERSION,
                                 .engine = model.empty() ? "" : web_file("engine.json", model)});
  write_output(out, page);
  std::fprintf(
      stream_beside(out), "%s: %zu records, %zu traces, %zu claims, %zu lines skipped; %.1f MiB\n",
      out.c_str(), read.records.size() + read.qat.size() + read.benches.size(), read.traces.size(),
      read.claims.size(), read.skipped.size(), static_cast<double>(page.size()) / (1 << 20));
}

void write_figure(const std::vector<std::string>& results, const report::FigureChoice& choice,
                  const std::string& out) {
  write_output(out, report::draw_figure(read_results(results), choice));
  std::fprintf(stream_beside(out), "%s: figure %s\n", out.c_str(), choice.name.c_str());
}

std::string report_beside(const std::string& results) {
  if (results.empty()) return "";
  const std::string out = std::filesystem::path(results).replace_extension(".html").string();
  return out == results ? out + ".html" : out;
}

void write_report_beside(const std::string& results) {
  try {
    write_report({results}, {}, report_beside(results));
  } catch (const Error& error) {
    if (error.code() != ErrorCode::Unsupported) throw;
    std::fprintf(stderr, "no report: %s\n", error.what());
  }
}

}  // namespace driftless::cli
