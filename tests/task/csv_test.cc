// SPDX-License-Identifier: Apache-2.0
#include "driftless/task/csv.h"

#include <array>

#include <gtest/gtest.h>

#include "driftless/base/files/text_file.h"

#include "tests/testing/expect_error.h"

namespace driftless::task {
namespace {

using driftless::testing::expect_error;
using Words = std::vector<std::string_view>;

constexpr std::array<std::string_view, 3> kColumns = {"a", "b", "c"};

TEST(TextFile, LinesDropTheirEndsAndTrailingEmptyOnes) {
  EXPECT_EQ(lines_of("x\r\n\ny\n\n"), (Words{"x", "", "y"}));
  EXPECT_EQ(lines_of(" \n"), (Words{" "}));
  EXPECT_TRUE(lines_of("").empty());
  expect_error(ErrorCode::Io, "absent", [] { read_text("absent"); });
}

TEST(Csv, PicksColumnsByName) {
  const CsvTable table("c,a\n1,2\n,4\n", "t.csv", kColumns);
  EXPECT_EQ(table.row_count(), 2);
  EXPECT_TRUE(table.has("a"));
  EXPECT_FALSE(table.has("b"));
  EXPECT_EQ(table.row(0, Words{"a", "c"}), (Words{"2", "1"}));
  EXPECT_EQ(table.row(1, Words{"c"}), (Words{""}));
  EXPECT_EQ(table.place(1), "t.csv:3");
  expect_error(ErrorCode::BadFile, "t.csv:1: no column 'b'; got c, a",
               [&] { return table.row(0, Words{"b"}); });
}

TEST(Csv, CountsAreIntegersOfZeroOrMore) {
  EXPECT_EQ(parse_count("12", "a", "t.csv:2"), 12);
  for (const char* text : {"", "-1", "1.5", "x"})
    expect_error(ErrorCode::BadFile, "t.csv:2: bad a", [&] { parse_count(text, "a", "t.csv:2"); });
}

}  // namespace
}  // namespace driftless::task
