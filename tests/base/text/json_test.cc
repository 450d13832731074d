// SPDX-License-Identifier: Apache-2.0
#include "driftless/base/text/json.h"

#include <chrono>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace driftless {
namespace {

std::string message_of(std::string_view text) {
  try {
    parse_json(text, "file.json", ErrorCode::BadConfig);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::BadConfig);
    return error.what();
  }
  return "no error";
}

TEST(Json, ReadsAWholeText) {
  const auto value = parse_json(R"({"a": [1, {"a": 2.5}], "b": null})", "here");
  EXPECT_EQ(value.at("a").at(1).at("a"), 2.5);
  EXPECT_TRUE(value.at("b").is_null());
}

TEST(Json, RefusesARepeatedKeyButNotAcrossObjects) {
  EXPECT_NE(message_of(R"({"a": {"b": 1}, "a": 2})").find("'a' appears twice"), std::string::npos);
  EXPECT_EQ(message_of(R"([{"a": 1}, {"a": 2}])"), "no error");
}

TEST(Json, RefusesMalformedTextNamingThePlace) {
  for (const char* text : {"", "{", "[1,]", "{} x", "\"\xff\"", "nan"})
    EXPECT_NE(message_of(text).find("file.json: not valid JSON"), std::string::npos) << text;
}

TEST(Json, BoundsTheNesting) {
  const auto nested = [](int depth) {
    return std::string(static_cast<size_t>(depth), '[') +
           std::string(static_cast<size_t>(depth), ']');
  };
  EXPECT_EQ(message_of(nested(kMaxJsonDepth)), "no error");
  EXPECT_NE(message_of(nested(100000)).find("nests too deeply"), std::string::npos);
}

TEST(Json, TakesTimeInProportion) {
  // 40000 objects with a few keys each took over a minute where every end searched its parent.
  std::string text = "{";
  for (int i = 0; i < 40000; ++i)
    text += (i > 0 ? ",\"" : "\"") + std::to_string(i) + R"(":{"a":[1,2],"b":{"c":3}})";
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(parse_json(text + "}", "here").size(), 40000u);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
}

}  // namespace
}  // namespace driftless
