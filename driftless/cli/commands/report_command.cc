// SPDX-License-Identifier: Apache-2.0
// driftless report: turns results into one page, or into one figure.
#include <memory>
#include <string>
#include <vector>

#include "driftless/cli/command.h"
#include "driftless/cli/report_page.h"
#include "driftless/report/figure/figures.h"

namespace driftless::cli {
namespace {

struct ReportOptions {
  std::vector<std::string> results;
  ReportChoice page;
  report::FigureChoice figure;
  std::string out;
};

}  // namespace

void add_report_command(const Verb& verb) {
  auto options = std::make_shared<ReportOptions>();
  verb.add_input("results", options->results,
                 "records of study, ladder and qat (JSON Lines), of bench (JSON), traces, claims; "
                 "- for standard input")
      .required();
  const Flag title = verb.add_option("--title", options->page.title, "of the page").shows_default();
  verb.add_input("--live", options->page.live_model,
                 "a model (safetensors) that the board player runs new boards with, in the page");
  const Flag figure =
      verb.add_option("--figure", options->figure.name,
                      "one figure as SVG instead of the page: " + report::figure_names());
  figure.excludes(title);
  verb.add_option("--schemes", options->figure.schemes,
                  "of the figure, as ladder takes them, such as none mxint4 int4:none; else all")
      .needs(figure);
  verb.add_output("--out", options->out, "the page (HTML) or figure (SVG), or -").required();
  verb.example("driftless report ladder.jsonl trace.json --out report.html");
  verb.runs([options, figure] {
    if (figure.is_given())
      write_figure(options->results, options->figure, options->out);
    else
      write_report(options->results, options->page, options->out);
  });
}

}  // namespace driftless::cli
