// SPDX-License-Identifier: Apache-2.0
// Results as one HTML page that needs nothing else: style, script, plotting library and data are in
// it, and its content policy forbids every request.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "driftless/report/results.h"

namespace driftless::report {

/// Boards of traces beyond this size stay out of the page, which says so.
inline constexpr int64_t kMaxTraceBytes = int64_t{1} << 20;

struct PageOptions {
  std::string title;
  std::string version;   ///< of the program
  std::string engine{};  ///< JSON of web/page/build.mjs with a model in it; players then run boards
};

/// A pure function of its arguments. Throws Unsupported in a build without the plotting library.
std::string render_page(const Results& results, const PageOptions& options);

/// The data of the page as JSON: title, version, records, qat, benches, traces, claims, evals,
/// logs, skipped, files, and the number of boards left out.
Json page_data(const Results& results, const PageOptions& options);

/// Text for the body of an element or an attribute in double quotes.
std::string escape_html(std::string_view text);

/// JSON for a script element: no '<' is left that could end it.
std::string escape_script_json(std::string_view json);

}  // namespace driftless::report
