// SPDX-License-Identifier: Apache-2.0
#include "driftless/report/web_page.h"

#include <cstdint>

#include <nlohmann/json.hpp>

#include "driftless/base/error.h"

namespace driftless::report {
namespace {

/// RFC 4648.
std::string base64(std::span<const std::byte> bytes) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    uint32_t three = 0;
    for (size_t j = i; j < i + 3; ++j)
      three = three << 8 | (j < bytes.size() ? static_cast<uint32_t>(bytes[j]) : 0);
    for (size_t digit = 0; digit < 4; ++digit)
      text += i + digit > bytes.size() ? '=' : kDigits[three >> (18 - 6 * digit) & 63];
  }
  return text;
}

/// A JSON string that no reader of HTML takes for a tag.
std::string json_text(std::string_view text) {
  std::string shown;
  for (const char c :
       nlohmann::json(text).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace))
    if (c == '<')
      shown += "\\u003c";
    else
      shown += c;
  return shown;
}

void replace(std::string& page, std::string_view place, const std::string& text,
             const std::string& where) {
  const size_t at = page.find(place);
  DRIFTLESS_REQUIRE(at != std::string::npos, ErrorCode::BadFile, where, ": no place ", place,
                    " for the model; not the page that the build made");
  page.replace(at, place.size(), text);
}

}  // namespace

std::string web_page(std::string_view page_template, const std::string& where,
                     std::string_view model_name, std::span<const std::byte> model) {
  std::string page(page_template);
  replace(page, "\"@name@\"", json_text(model_name), where);
  replace(page, "\"@model@\"", '"' + base64(model) + '"', where);
  return page;
}

}  // namespace driftless::report
