// SPDX-License-Identifier: Apache-2.0
#include "driftless/study/ladder.h"

#include <gtest/gtest.h>

#include "tests/testing/expect_error.h"

namespace driftless::study {
namespace {

/// As much of a record as the table shows.
Json record(const std::string& weights, double exact, double bits, const std::string& verdict) {
  return {{"config",
           {{"weights", weights},
            {"acts", weights},
            {"smooth", nullptr},
            {"hadamard", false},
            {"scales", "all"},
            {"calibration", nullptr}}},
          {"bits", {{"weights", bits}, {"acts", bits}}},
          {"exact", {{"share", exact}, {"low", 0.1}, {"high", 0.9}}},
          {"cells", {{"mean", 0.75}, {"low", 0.5}, {"high", 1}}},
          {"paired", {{"difference", -0.25}, {"p_value", 0.5}}},
          {"verdict", {{"latent", verdict}}},
          {"execution", "simulated"},
          {"timing", {{"ratio", 1.5}}}};
}

const std::vector<Json> kRecords = {record("int4", 0.25, 4, "drifts"),
                                    record("mxint8", 0.5, 8.25, "contracts"),
                                    record("mxint4", 0.5, 4.25, "contracts")};

TEST(Ladder, SortsByAccuracyThenBits) {
  const std::vector<Json> sorted = sort_for_ladder(kRecords);
  EXPECT_EQ(sorted[0].at("config").at("weights"), "mxint4");
  EXPECT_EQ(sorted[1].at("config").at("weights"), "mxint8");
  EXPECT_EQ(sorted[2].at("config").at("weights"), "int4");
}

TEST(Ladder, TablesShowTheSameInEveryStyle) {
  const std::string plain = ladder_table(kRecords, TableStyle::Plain);
  EXPECT_NE(
      plain.find("int4     int4         4 / 4        25.00 (10.00-90.00)  "
                 "75.00 (50.00-100.00)  -25.00 (0.5)          drifts     simulated  1.50 x\n"),
      std::string::npos)
      << plain;
  EXPECT_EQ(plain.find('\x1b'), std::string::npos);
  const std::string colored = ladder_table(kRecords, TableStyle::Colored);
  EXPECT_NE(colored.find("\x1b[31mdrifts"), std::string::npos) << "red";
  EXPECT_NE(colored.find("\x1b[32mcontracts"), std::string::npos) << "green";
  const std::string markdown = ladder_table(kRecords, TableStyle::Markdown);
  EXPECT_NE(markdown.find("|---|---|---|---|---|---|---|---|---|\n"), std::string::npos);
}

TEST(Ladder, LinesComeOneByOneInColumnsThatFitTheRowsToCome) {
  const std::vector<Row> rows = {ladder_row("none"), ladder_row("mxint4,rule=mse:int4/token")};
  const LadderLines table(rows, TableStyle::Plain);
  EXPECT_TRUE(table.head().starts_with("weights          activations  bits w/a ")) << table.head();
  const std::string line = table.line(kRecords[0]);
  EXPECT_EQ(line.find("25.00 ("), table.head().find("exact %")) << table.head() << line;
  EXPECT_EQ(line.find("drifts"), table.head().find("verdict")) << table.head() << line;
  EXPECT_EQ(LadderLines(rows, TableStyle::Colored).head().find("\x1b[1m"), 0u);
}

TEST(Ladder, NotesCompareNativeRowsWithTheirSimulation) {
  EXPECT_EQ(native_notes(kRecords), "");
  Json native = kRecords[2];
  native["simulation"] = {{"paired",
                           {{"lost", 3},
                            {"gained", 1},
                            {"difference", -0.02},
                            {"low", -0.06},
                            {"high", 0.02},
                            {"p_value", 0.625}}},
                          {"same_answers", {{"hits", 90}, {"n", 100}}}};
  EXPECT_EQ(
      native_notes(std::vector<Json>{native}),
      "native less simulated, mxint4 mxint4: -2.00 points (-6.00 to +2.00), 3 lost, 1 gained, "
      "p 0.62; 90 of 100 answers the same\n");
}

TEST(Ladder, RowsFromText) {
  for (const std::string_view text : kLadder) EXPECT_NO_THROW(ladder_row(text)) << text;
  const Row row = ladder_row("int4/channel:none");
  EXPECT_EQ(quant::to_string(row.scheme.weights), "int4/channel");
  EXPECT_TRUE(row.scheme.acts.is_none());
  EXPECT_ERROR(ladder_row("int4:"), ErrorCode::InvalidArgument, "");
  EXPECT_ERROR(ladder_row("mxint5x"), ErrorCode::InvalidArgument, "mxint");
}

}  // namespace
}  // namespace driftless::study
