// SPDX-License-Identifier: Apache-2.0
#include "driftless/base/text/text.h"

#include <gtest/gtest.h>

namespace driftless {
namespace {

TEST(Text, SplitKeepsEmptyParts) {
  EXPECT_EQ(split("a,,b", ','), (std::vector<std::string_view>{"a", "", "b"}));
  EXPECT_EQ(split("", ','), (std::vector<std::string_view>{""}));
  EXPECT_EQ(split("a,", ','), (std::vector<std::string_view>{"a", ""}));
}

TEST(Text, NumbersMustFillTheWholeText) {
  EXPECT_EQ(parse_int("-12"), -12);
  EXPECT_EQ(parse_int("12x"), std::nullopt);
  EXPECT_EQ(parse_int(""), std::nullopt);
  EXPECT_EQ(parse_int("99999999999999999999"), std::nullopt);
  EXPECT_EQ(parse_number("0.5"), 0.5);
  EXPECT_EQ(parse_number("0.5 "), std::nullopt);
  EXPECT_EQ(parse_number("inf"), std::nullopt);
  EXPECT_EQ(parse_number("nan"), std::nullopt);
}

TEST(Text, EditDistanceCountsSwapsOnce) {
  EXPECT_EQ(edit_distance("", "abc"), 3);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3);
  EXPECT_EQ(edit_distance("flor", "floor"), 1);
  EXPECT_EQ(edit_distance("ab", "ba"), 1);
}

TEST(Text, NearestWordTakesTheFirstOnTies) {
  const std::vector<std::string_view> words = {"floor", "ceil", "even"};
  EXPECT_EQ(nearest_word("flor", words), "floor");
  EXPECT_EQ(nearest_word("cell", words), "ceil");
  const std::vector<std::string_view> tied = {"aa", "ab"};
  EXPECT_EQ(nearest_word("a", tied), "aa");
  EXPECT_EQ(join(words, ", "), "floor, ceil, even");
  EXPECT_EQ(nearest_word("ceil" + std::string(100'000'000, 'x'), words), "ceil");
}

TEST(Text, OnlyNearWordsAreSuggested) {
  const std::vector<std::string_view> words = {"solve", "eval", "--output", "mxint4"};
  EXPECT_EQ(nearest_word("SOLVE", words), "solve");
  EXPECT_EQ(nearest_word("MxInt4", words), "mxint4");
  EXPECT_EQ(nearest_word("evaluate", words), "eval");
  EXPECT_EQ(nearest_word("--outptu", words), "--output");
  EXPECT_EQ(nearest_word("banana", words), std::nullopt);
  EXPECT_EQ(nearest_word("slow", words), std::nullopt);
  EXPECT_EQ(nearest_word("", words), std::nullopt);
  EXPECT_EQ(nearest_word("solve", {}), std::nullopt);
  EXPECT_EQ(did_you_mean("sovle", words), "; did you mean 'solve'?");
  EXPECT_EQ(did_you_mean("banana", words), "");
}

}  // namespace
}  // namespace driftless
