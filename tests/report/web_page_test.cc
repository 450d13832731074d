// SPDX-License-Identifier: Apache-2.0
#include "driftless/report/web_page.h"

#include <vector>

#include <gtest/gtest.h>

#include "driftless/base/error.h"

namespace driftless::report {
namespace {

constexpr const char* kTemplate = R"(<script>{"name":"@name@","model":"@model@"}</script>)";

std::string page_of(std::string_view name, std::string_view model) {
  return web_page(kTemplate, "page.html", name, std::as_bytes(std::span(model)));
}

TEST(WebPage, HoldsTheModelInBase64) {
  // The examples of RFC 4648.
  const std::vector<std::pair<std::string, std::string>> examples = {{"", ""},
                                                                     {"f", "Zg=="},
                                                                     {"fo", "Zm8="},
                                                                     {"foo", "Zm9v"},
                                                                     {"foob", "Zm9vYg=="},
                                                                     {"fooba", "Zm9vYmE="},
                                                                     {"foobar", "Zm9vYmFy"},
                                                                     {"\xff\xfe\xfd", "//79"}};
  for (const auto& [bytes, text] : examples)
    EXPECT_EQ(page_of("m", bytes), "<script>{\"name\":\"m\",\"model\":\"" + text + "\"}</script>");
}

TEST(WebPage, NameIsNoMarkup) {
  const std::string page = page_of("</script><b>\"x\xff", "f");
  EXPECT_EQ(page.find("</script><b>"), std::string::npos);
  EXPECT_NE(page.find("\\u003c/script>\\u003cb>\\\"x"), std::string::npos) << page;
}

TEST(WebPage, RefusesAnotherFile) {
  try {
    (void)web_page("<html></html>", "page.html", "m", {});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::BadFile);
    EXPECT_NE(std::string(error.what()).find("page.html: no place"), std::string::npos);
  }
}

}  // namespace
}  // namespace driftless::report
