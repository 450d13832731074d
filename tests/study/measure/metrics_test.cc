// SPDX-License-Identifier: Apache-2.0
#include "driftless/study/measure/metrics.h"

#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

#include <gtest/gtest.h>

#include "tests/study/share_intervals.h"
#include "tests/testing/expect_error.h"

namespace driftless::study {
namespace {

const std::vector<float> kA = {3, 4, 0};
const std::vector<float> kB = {0, 0, 12};

TEST(Metrics, VectorsByHand) {
  EXPECT_EQ(norm(kA), 5);
  EXPECT_EQ(distance(kA, kB), 13);
  EXPECT_EQ(dot(kA, kA), 25);
  EXPECT_EQ(cosine(dot(kA, kB), 5, 12), 0);
  EXPECT_EQ(cosine(-10, 5, 4), -0.5);
  EXPECT_EQ(cosine(0, 0, 0), 1);
  EXPECT_EQ(cosine(0, 0, 1), 0);
}

Verdict verdict(std::vector<double> curve) { return judge(curve, 200); }

TEST(Metrics, VerdictByTheRule) {
  EXPECT_EQ(verdict({70, 60, 63}), Verdict::Contracts);  // exactly 0.9
  EXPECT_EQ(verdict({70, 60, 64}), Verdict::Saturates);
  EXPECT_EQ(verdict({150, 120, 100}), Verdict::Contracts);  // exactly half of unrelated states
  EXPECT_EQ(verdict({150, 120, 101}), Verdict::Saturates);
  EXPECT_EQ(verdict({100, 90, 105}), Verdict::Saturates);  // exactly 1.05
  EXPECT_EQ(verdict({100, 90, 106}), Verdict::Drifts);
  EXPECT_EQ(verdict({10, 20, 30}), Verdict::Contracts);  // exactly 15 % of unrelated states
  EXPECT_EQ(verdict({10, 20, 31}), Verdict::Drifts);
  EXPECT_EQ(verdict({0, 0, 0}), Verdict::Contracts);
  EXPECT_EQ(verdict({50}), Verdict::Saturates);
  EXPECT_ERROR(verdict({}), ErrorCode::InvalidArgument, "no steps");
  for (const auto& row : kVerdictNames) EXPECT_EQ(to_string(row.value), row.name);
}

TEST(Metrics, IntervalsEndWhereTheirValuesDo) {
  task::Moments few;  // 1 of 3: the normal interval would start below 0
  for (const double value : {1.0, 0.0, 0.0}) few.add(value);
  EXPECT_LT(interval_of(few, Values::Any).low, 0);
  EXPECT_EQ(interval_of(few, Values::Share).low, 0);
  EXPECT_EQ(interval_of(few, Values::Cosine).low, interval_of(few, Values::Any).low);
  const task::Interval wilson = task::wilson_interval(few.mean(), 3);
  EXPECT_EQ(interval_of(few, Values::Fact).low, wilson.low);
  EXPECT_EQ(interval_of(few, Values::Fact).high, wilson.high);
  task::Moments cosines;
  for (const double value : {1.0, 1.0, 0.9}) cosines.add(value);
  EXPECT_GT(interval_of(cosines, Values::Any).high, 1);
  EXPECT_EQ(interval_of(cosines, Values::Cosine).high, 1);
}

TEST(Metrics, CommittedRecordsHaveTheIntervalsOfTheirShares) {
  int64_t records = 0;
  for (const auto& entry : std::filesystem::directory_iterator(DRIFTLESS_RESULTS)) {
    if (entry.path().extension() != ".jsonl") continue;
    std::ifstream file(entry.path());
    std::string line;
    for (int64_t number = 1; std::getline(file, line); ++number) {
      const Json record = Json::parse(line);
      if (!record.contains("schema")) continue;
      testing::expect_share_intervals(
          record, entry.path().filename().string() + ":" + std::to_string(number));
      ++records;
    }
  }
  EXPECT_GT(records, 0);
}

TEST(Metrics, AreAllDocumented) {
  std::ifstream file(DRIFTLESS_METRICS_PAGE);
  std::ostringstream page;
  page << file.rdbuf();
  for (const Metric& metric : kStepMetrics)
    EXPECT_NE(page.str().find("`" + std::string(metric.name) + "`"), std::string::npos)
        << metric.name;
}

}  // namespace
}  // namespace driftless::study
