// SPDX-License-Identifier: Apache-2.0
#include "driftless/report/results.h"

#include <gtest/gtest.h>

#include "driftless/base/error.h"
#include "driftless/base/files/file.h"

#include "tests/testing/expect_error.h"
#include "tests/testing/temp_dir.h"

namespace driftless::report {
namespace {

using driftless::testing::TempDir;

Json claim() {
  return {{"claim", "it drifts"}, {"source", "figure 1"}, {"theirs", "0 %"}, {"study", nullptr},
          {"ours", nullptr},      {"verdict", nullptr},   {"reason", ""}};
}

/// Records must say schema 1, peaks must be a list; every other line is sound.
const Checks kChecks{.record =
                         [](const Json& line, std::string_view where) {
                           DRIFTLESS_REQUIRE(line.at("schema") == 1, ErrorCode::BadFile, where,
                                             ": schema; got ", line.at("schema").dump());
                         },
                     .qat = [](const Json&, std::string_view) {},
                     .bench =
                         [](const Json& line, std::string_view where) {
                           DRIFTLESS_REQUIRE(line.at("peaks").is_array(), ErrorCode::BadFile, where,
                                             ": peaks");
                         },
                     .trace = [](const Json&, std::string_view) {}};

Results read(const std::string& text) {
  const TempDir dir;
  const std::filesystem::path path = dir.path() / "results.jsonl";
  write_file_atomic(path, text);
  Results results;
  add_file(path, kChecks, results);
  return results;
}

TEST(Results, SortsLinesByKind) {
  const Results results = read("{\"schema\": 1}\n\n{\"trace\": 1}\r\n" + claim().dump() +
                               "\n{\"schema\": 1}\n{\"qat\": 1}\n{\"peaks\": []}\n{\"qat\": 1}\n");
  EXPECT_EQ(results.records.size(), 2U);
  EXPECT_EQ(results.qat.size(), 2U);
  EXPECT_EQ(results.benches.size(), 1U);
  EXPECT_EQ(results.traces.size(), 1U);
  EXPECT_EQ(results.claims.size(), 1U);
  EXPECT_TRUE(results.skipped.empty());
  EXPECT_EQ(results.files, std::vector<std::string>{"results.jsonl"});
}

TEST(Results, EvaluationsAndTrainingLogsAreLinesToo) {
  const std::string share = "{\"share\": 0.5, \"n\": 2, \"low\": 0.1, \"high\": 0.9}";
  const Results results = read(
      "{\"model\": \"m\", \"halting\": \"fixed\", \"exact\": " + share +
      "}\n{\"kind\": \"train\", \"step\": 1}\n{\"kind\": \"eval\", \"step\": 2, \"exact\": 0.5, "
      "\"exact_low95\": 0.4, \"exact_high95\": 0.6}\n{\"kind\": \"eval\", \"step\": 2}\n"
      "{\"model\": \"m\", \"halting\": \"fixed\"}\n");
  EXPECT_EQ(results.evals.size(), 1U);
  ASSERT_EQ(results.logs.size(), 2U);
  EXPECT_EQ(results.logs[1].at("file"), "results.jsonl");
  ASSERT_EQ(results.skipped.size(), 2U);
  EXPECT_NE(results.skipped[0].reason.find("'exact'"), std::string::npos);
  EXPECT_NE(results.skipped[1].reason.find("'exact.share'"), std::string::npos);
}

TEST(Results, SkipsWhatItCannotUseAndSaysWhere) {
  struct Case {
    const char* line;
    const char* word;
  };
  for (const Case& bad :
       {Case{"{\"schema\": 1, \"exact\": {\"sha", "not valid JSON"},
        Case{"{\"schema\": 2}", "schema; got 2"}, Case{"{\"schema\": NaN}", "not valid JSON"},
        Case{"[1]", "expected an object"}, Case{"{\"other\": 1}", "neither a record"},
        Case{"{\"claim\": \"it drifts\"}", "expected a text 'source'"}}) {
    const Results results = read("{\"schema\": 1}\n" + std::string(bad.line) + "\n");
    EXPECT_EQ(results.records.size(), 1U) << bad.line;
    ASSERT_EQ(results.skipped.size(), 1U) << bad.line;
    EXPECT_EQ(results.skipped[0].where, "results.jsonl:2");
    EXPECT_NE(results.skipped[0].reason.find(bad.word), std::string::npos)
        << results.skipped[0].reason;
  }
}

TEST(Results, AnObjectMayBeSpreadOverLines) {
  const Results results = read("{\n  \"threads\": 2,\n  \"peaks\": []\n}\n");
  ASSERT_EQ(results.benches.size(), 1U);
  EXPECT_EQ(results.benches[0].at("threads"), 2);
  const Results cut = read("{ \r\n  \"peaks\": [\n");
  ASSERT_EQ(cut.skipped.size(), 1U);
  EXPECT_EQ(cut.skipped[0].where, "results.jsonl");
  EXPECT_EQ(read("{\n \"peaks\": 3\n}").skipped.size(), 1U);
}

TEST(Results, AnEmptyFileHasNone) {
  const Results results = read("");
  EXPECT_TRUE(results.records.empty() && results.skipped.empty());
}

TEST(Results, AMissingFileIsAnError) {
  Results results;
  EXPECT_ERROR(add_file("no/such/file.jsonl", kChecks, results), ErrorCode::Io, "file.jsonl");
}

TEST(Results, ClaimsAreChecked) {
  require_claim(claim(), "here");
  for (const char* const verdict : {"holds", "in part", "fails"}) {
    Json good = claim();
    good["verdict"] = verdict;
    require_claim(good, "here");
  }
  Json bad = claim();
  bad["verdict"] = "perhaps";
  EXPECT_ERROR(require_claim(bad, "here"), ErrorCode::BadFile, "in part");
  bad = claim();
  bad["ours"] = 3;
  EXPECT_ERROR(require_claim(bad, "here"), ErrorCode::BadFile, "'ours'");
}

}  // namespace
}  // namespace driftless::report
