// SPDX-License-Identifier: Apache-2.0
// The text of the page; tests/report/browser looks at it in a browser.
#include "driftless/report/page.h"

#include <gtest/gtest.h>

#include "driftless/base/error.h"
#include "driftless/report/assets.h"

namespace driftless::report {
namespace {

const PageOptions kOptions{.title = "A <b>title</b> & \"more\"", .version = "1.2.3"};

bool has_plot_library() {
  try {
    return !plot_library().empty();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::Unsupported);
    EXPECT_NE(std::string_view(error.what()).find("node-d3"), std::string_view::npos);
    return false;
  }
}

/// What the page carries for its script.
Json data_of(const std::string& page) {
  const std::string opening = "<script type=\"application/json\" id=\"data\">";
  const size_t first = page.find(opening) + opening.size();
  return Json::parse(page.substr(first, page.find("</script>", first) - first));
}

TEST(Page, EscapesMarkup) {
  EXPECT_EQ(escape_html("<a href=\"x\">&</a>"), "&lt;a href=&quot;x&quot;&gt;&amp;&lt;/a&gt;");
  EXPECT_EQ(escape_script_json("\"</script><!--\""), "\"\\u003c/script>\\u003c!--\"");
}

TEST(Page, CarriesItsDataWhateverIsInIt) {
  if (!has_plot_library()) GTEST_SKIP() << "this build has no d3";
  const std::string hostile = "</script><script>alert(1)</script>@SCRIPT@ \xff";
  Results results;
  results.records.push_back({{"schema", 1}, {"study", hostile}, {"value", 0.1}});
  results.skipped.push_back({.where = "a:1", .reason = hostile});
  results.files.push_back("a");
  const std::string page = render_page(results, kOptions);
  const Json data = data_of(page);
  // The byte that is no UTF-8 becomes U+FFFD.
  const std::string kept = hostile.substr(0, hostile.size() - 1) + "\xef\xbf\xbd";
  EXPECT_EQ(data.at("records").at(0).at("study"), kept);
  EXPECT_EQ(data.at("records").at(0).at("value"), 0.1);
  EXPECT_EQ(data.at("skipped").at(0).at("reason"), kept);
  EXPECT_EQ(data.at("version"), "1.2.3");
  EXPECT_EQ(page.find("<script>alert"), std::string::npos);
  EXPECT_NE(page.find("<title>A &lt;b&gt;title&lt;/b&gt; &amp; &quot;more&quot;</title>"),
            std::string::npos);
  EXPECT_EQ(page, render_page(results, kOptions));
}

TEST(Page, NamesNoOtherHost) {
  for (const std::string_view text : {page_template(), page_style(), page_script()}) {
    EXPECT_EQ(text.find("http:"), std::string_view::npos);
    EXPECT_EQ(text.find("https:"), std::string_view::npos);
    EXPECT_EQ(text.find("</script>\""), std::string_view::npos);
  }
  EXPECT_NE(page_template().find("default-src 'none'"), std::string_view::npos);
}

TEST(Page, BoardsBeyondTheLimitStayOut) {
  const Json board = {{"input", std::string(static_cast<size_t>(kMaxTraceBytes) / 4, '1')}};
  Results results;
  results.traces.push_back({{"trace", 1}, {"boards", {board, board}}});
  results.traces.push_back({{"trace", 1}, {"boards", {board, board, board}}});
  const Json data = page_data(results, kOptions);
  // A board takes its quarter of the limit and a few bytes more, so three of five fit.
  ASSERT_EQ(data.at("traces").size(), 2U);
  EXPECT_EQ(data.at("traces").at(0).at("boards").size(), 2U);
  EXPECT_EQ(data.at("traces").at(1).at("boards").size(), 1U);
  EXPECT_EQ(data.at("boards_left_out"), 2);
}

}  // namespace
}  // namespace driftless::report
