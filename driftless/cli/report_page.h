// SPDX-License-Identifier: Apache-2.0
// Results files as a page: what report does, and what study and ladder end with.
#pragma once

#include <string>
#include <vector>

#include "driftless/report/figure/figures.h"

namespace driftless::cli {

inline constexpr const char* kReportTitle = "driftless: does the trajectory survive?";

struct ReportChoice {
  std::string title = kReportTitle;
  std::string live_model{};  ///< a file; players of the page run boards with it
};

/// Writes the page and says on stdout what it holds; skipped lines go to stderr as warnings. Throws
/// Unsupported in a build without the plotting library.
void write_report(const std::vector<std::string>& results, const ReportChoice& choice,
                  const std::string& out);

/// Writes one figure and says so on stdout; skipped lines go to stderr as warnings.
void write_figure(const std::vector<std::string>& results, const report::FigureChoice& choice,
                  const std::string& out);

/// NAME.html for NAME.jsonl, and for NAME.html another name; "" for "".
std::string report_beside(const std::string& results);

/// The page beside a results file, under that name. A build without the plotting library
/// says so on stderr instead.
void write_report_beside(const std::string& results);

}  // namespace driftless::cli
