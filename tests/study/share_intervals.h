// SPDX-License-Identifier: Apache-2.0
// What every record owes its shares: Wilson's interval at each step, and no end beyond 0 and 1.
#pragma once

#include <string>

#include <gtest/gtest.h>

#include "driftless/study/measure/dynamics.h"
#include "driftless/study/measure/metrics.h"
#include "driftless/study/record/fields.h"

namespace driftless::study::testing {

inline void expect_interval(Values values, double mean, int64_t n, double low, double high,
                            const std::string& what) {
  if (values == Values::Any) return;
  EXPECT_GE(low, values == Values::Cosine ? -1 : 0) << what;
  EXPECT_LE(high, 1) << what;
  if (values != Values::Fact) return;
  const task::Interval wilson = task::wilson_interval(mean, n);
  EXPECT_EQ(low, wilson.low) << what;
  EXPECT_EQ(high, wilson.high) << what;
}

inline void expect_share_intervals(const Json& record, const std::string& where) {
  const int64_t n = record.at("n");
  for (const Metric& metric : kStepMetrics) {
    if (!record.at("steps").contains(metric.name)) continue;
    const Json& series = record.at("steps").at(metric.name);
    for (size_t i = 0; i < series.at("mean").size(); ++i)
      if (!series.at("mean")[i].is_null())
        expect_interval(
            metric.values, series.at("mean")[i], n, series.at("low")[i], series.at("high")[i],
            where + ", " + std::string(metric.name) + ", step " + std::to_string(i + 1));
  }
  if (record.at("dynamics").is_null()) return;
  for (const auto& [name, values] : kDynamicsBoards) {
    const Json& value = record.at("dynamics").at(name);
    if (!value.is_null())
      expect_interval(values, value.at("mean"), value.at("n"), value.at("low"), value.at("high"),
                      where + ", " + std::string(name));
  }
}

}  // namespace driftless::study::testing
