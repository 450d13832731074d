// SPDX-License-Identifier: Apache-2.0
// driftless report: turns results into one page.
#include <memory>
#include <string>
#include <vector>

#include "driftless/cli/command.h"
#include "driftless/cli/report_page.h"

namespace driftless::cli {
namespace {

struct Options {
  std::vector<std::string> results;
  std::string title = kReportTitle;
  std::string out;
};

}  // namespace

void add_report_command(const Verb& verb) {
  auto options = std::make_shared<Options>();
  verb.add_input("results", options->results,
                 "records of study, ladder and qat (JSON Lines), of bench (JSON), traces, claims; "
                 "- for standard input")
      .required();
  verb.add_option("--title", options->title, "of the page").shows_default();
  verb.add_output("--out", options->out, "the page (HTML), or -").required();
  verb.example("driftless report ladder.jsonl trace.json --out report.html");
  verb.runs([options] { write_report(options->results, options->title, options->out); });
}

}  // namespace driftless::cli
