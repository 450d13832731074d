// SPDX-License-Identifier: Apache-2.0
#include "driftless/report/page.h"

#include <array>
#include <utility>

#include "driftless/base/error.h"
#include "driftless/report/assets.h"

namespace driftless::report {
namespace {

struct Part {
  std::string_view place;
  std::string text;
};

/// The template with every place filled; what is filled in is not looked at again.
std::string fill(std::string_view page, const std::array<Part, 7>& parts) {
  std::string filled;
  while (!page.empty()) {
    size_t first = page.size();
    const Part* next = nullptr;
    for (const Part& part : parts) {
      const size_t found = page.find(part.place);
      if (found < first) {
        first = found;
        next = &part;
      }
    }
    filled += page.substr(0, first);
    if (next == nullptr) break;
    filled += next->text;
    page.remove_prefix(first + next->place.size());
  }
  return filled;
}

/// The traces, cut to as many boards as fit, and how many did not.
std::pair<Json, int64_t> fitting_traces(const std::vector<Json>& traces) {
  Json fitting = Json::array();
  int64_t left_out = 0;
  int64_t bytes = 0;
  for (const Json& trace : traces) {
    Json kept = trace;
    kept["boards"] = Json::array();
    for (const Json& board : trace.at("boards")) {
      bytes += std::ssize(board.dump());
      if (bytes <= kMaxTraceBytes)
        kept["boards"].push_back(board);
      else
        ++left_out;
    }
    if (!kept["boards"].empty()) fitting.push_back(std::move(kept));
  }
  return {fitting, left_out};
}

std::string replace_each(std::string_view text, std::string_view (*replacement)(char)) {
  std::string result;
  result.reserve(text.size());
  for (const char c : text) {
    const std::string_view other = replacement(c);
    if (other.empty())
      result += c;
    else
      result += other;
  }
  return result;
}

}  // namespace

std::string escape_html(std::string_view text) {
  return replace_each(text, [](char c) -> std::string_view {
    switch (c) {
      case '&':
        return "&amp;";
      case '<':
        return "&lt;";
      case '>':
        return "&gt;";
      case '"':
        return "&quot;";
      default:
        return "";
    }
  });
}

std::string escape_script_json(std::string_view json) {
  return replace_each(json, [](char c) -> std::string_view { return c == '<' ? "\\u003c" : ""; });
}

Json page_data(const Results& results, const PageOptions& options) {
  Json skipped = Json::array();
  for (const Skipped& line : results.skipped)
    skipped.push_back({{"where", line.where}, {"reason", line.reason}});
  auto [traces, left_out] = fitting_traces(results.traces);
  return {{"title", options.title},     {"version", options.version},
          {"records", results.records}, {"qat", results.qat},
          {"benches", results.benches}, {"traces", std::move(traces)},
          {"claims", results.claims},   {"evals", results.evals},
          {"logs", results.logs},       {"skipped", std::move(skipped)},
          {"files", results.files},     {"boards_left_out", left_out}};
}

namespace {

/// The engine is WebAssembly in a worker whose script is in the page.
constexpr std::string_view kLivePolicy = " 'wasm-unsafe-eval'; worker-src blob:";

std::string engine_script(std::string_view engine) {
  return "<script type=\"application/json\" id=\"engine\">" + escape_script_json(engine) +
         "</script>\n";
}

}  // namespace

std::string render_page(const Results& results, const PageOptions& options) {
  // Bytes that are not UTF-8 (file names may hold any) become U+FFFD rather than an error.
  const std::string data =
      page_data(results, options).dump(-1, ' ', false, Json::error_handler_t::replace);
  const bool is_live = !options.engine.empty();
  return fill(page_template(), {{{"@TITLE@", escape_html(options.title)},
                                 {"@STYLE@", std::string(page_style())},
                                 {"@LIBRARY@", std::string(plot_library())},
                                 {"@DATA@", escape_script_json(data)},
                                 {"@LIVE_POLICY@", std::string(is_live ? kLivePolicy : "")},
                                 {"@ENGINE@", is_live ? engine_script(options.engine) : ""},
                                 {"@SCRIPT@", std::string(page_script())}}});
}

}  // namespace driftless::report
