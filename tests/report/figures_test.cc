// SPDX-License-Identifier: Apache-2.0
// Figures in README.md, on the models' cards and on the pages of docs/results are those of the
// committed records. figures.json lists them: a text with {POINTER|DECIMALS} for a share of the
// record in percent and {POINTER} for a count, which has to stand in the file, whatever its line
// breaks. Of a file of JSON Lines every record is meant, or those of `rows`: numbers, "first" or
// "last".
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/testing/run_program.h"

namespace driftless {
namespace {

using Json = nlohmann::json;
using testing::text_of;

/// Words with one space between them.
std::string on_one_line(const std::string& text) {
  std::istringstream words(text);
  std::string joined;
  for (std::string word; words >> word;) joined += (joined.empty() ? "" : " ") + word;
  return joined;
}

/// 9974 as 9,974.
std::string grouped(int64_t count) {
  std::string digits = std::to_string(count);
  for (int64_t at = std::ssize(digits) - 3; at > 0; at -= 3)
    digits.insert(static_cast<size_t>(at), ",");
  return digits;
}

/// A place in a text: "/exact/share|1" or "/exact/n".
std::string figure(const Json& record, const std::string& place) {
  const size_t bar = place.find('|');
  const Json& value = record.at(Json::json_pointer(place.substr(0, bar)));
  if (bar == std::string::npos) return grouped(value.get<int64_t>());
  std::vector<char> text(64);
  const int length = std::snprintf(text.data(), text.size(), "%.*f",
                                   std::stoi(place.substr(bar + 1)), 100 * value.get<double>());
  return {text.data(), static_cast<size_t>(length)};
}

std::string filled(const Json& record, const std::string& text) {
  std::string result;
  size_t at = 0;
  for (size_t open = 0; (open = text.find('{', at)) != std::string::npos;) {
    const size_t close = text.find('}', open);
    result += text.substr(at, open - at) + figure(record, text.substr(open + 1, close - open - 1));
    at = close + 1;
  }
  return result + text.substr(at);
}

std::vector<Json> records_of(const Json& figures) {
  const std::string path = "docs/results/" + figures.at("record").get<std::string>();
  const std::string text = text_of(path);
  if (path.ends_with(".json")) return {Json::parse(text)};
  const Json rows = figures.value("rows", Json("all"));
  std::vector<Json> records;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty()) continue;
    Json record = Json::parse(line);
    if (rows.is_array() && std::find(rows.begin(), rows.end(), record.at("row")) == rows.end())
      continue;
    if (rows == "last") records.clear();
    records.push_back(std::move(record));
    if (rows == "first") break;
  }
  return records;
}

TEST(Figures, AreThoseOfTheRecords) {
  EXPECT_EQ(grouped(9974), "9,974");
  EXPECT_EQ(filled({{"a", {{"n", 518}, {"share", 0.7278}}}}, "{/a/share|1} % of {/a/n}."),
            "72.8 % of 518.");
  int64_t checked = 0;
  for (const Json& figures : Json::parse(text_of("tests/report/figures.json"))) {
    const std::string file = figures.at("file");
    const std::string page = on_one_line(text_of(file));
    for (const Json& record : records_of(figures)) {
      const std::string expected = on_one_line(filled(record, figures.at("text")));
      EXPECT_NE(page.find(expected), std::string::npos)
          << file << ": no '" << expected << "', as in " << figures.at("record");
      ++checked;
    }
  }
  EXPECT_GT(checked, 100);
}

}  // namespace
}  // namespace driftless
