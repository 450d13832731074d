// SPDX-License-Identifier: Apache-2.0
// Figures as SVG: each of the table from records made up here, and what cannot be drawn.
#include <gtest/gtest.h>

#include "driftless/base/error.h"
#include "driftless/report/figure/figures.h"
#include "driftless/report/figure/scale.h"

#include "tests/testing/expect_error.h"

namespace driftless::report {
namespace {

Json share(double value) {
  return {{"share", value}, {"n", 64}, {"low", value - 0.05}, {"high", value + 0.05}};
}

/// The keys of a record that figures read.
Json record(const std::string& study, int64_t row, const std::string& scheme) {
  const Json curve = {
      {"mean", {0.25, 0.5, 0.75}}, {"low", {0.2, 0.4, 0.7}}, {"high", {0.3, 0.6, 0.8}}};
  const bool is_second = row % 2 == 1;
  return {{"schema", 1},
          {"study", study},
          {"row", row},
          {"checkpoint", {{"file", "tiny.safetensors"}, {"sha256", "aa"}}},
          {"data", {{"file", "boards.csv"}}},
          {"n", 2000},
          {"execution", scheme == "none" ? "float" : "simulated"},
          {"multiply_adds", 1000 * (row + 1)},
          {"config",
           {{"weights", scheme},
            {"acts", scheme},
            {"coverage", "block"},
            {"h_cycles", 3},
            {"l_cycles", is_second && study == "dose-response" ? 2 : 6},
            {"steps", is_second && study == "depth-precision" ? 8 : 16},
            {"rollouts", {{"count", is_second && study == "rollouts" ? 4 : 1}}}}},
          {"exact", share(0.8)},
          {"float_exact", share(0.9)},
          {"verdict", {{"latent", "contracts"}}},
          {"steps", {{"exact", curve}, {"latent_divergence", curve}}}};
}

/// Lines for every figure of the table.
Results everything() {
  Results results;
  for (const std::string study :
       {"ladder", "granularity", "dose-response", "depth-precision", "rollouts", "rate-robustness"})
    for (int64_t row = 0; row < 4; ++row)
      results.records.push_back(record(study, row, row < 2 ? "none" : "mxint4"));
  results.records.push_back(record("granularity", 9, "int4"));
  results.qat.push_back({{"method", "naive"},
                         {"weights", "int4/tensor"},
                         {"acts", "int4/tensor/static,calib=mse"},
                         {"checkpoint", {{"file", "tiny.safetensors"}}},
                         {"before", {{"exact", share(0.01)}}},
                         {"after", {{"exact", share(0.7)}}},
                         {"float_exact", share(0.9)},
                         {"theirs", {{"after", 0.718}}}});
  results.logs.push_back({{"kind", "eval"},
                          {"file", "tiny.jsonl"},
                          {"step", 250},
                          {"exact", 0.5},
                          {"exact_low95", 0.4},
                          {"exact_high95", 0.6}});
  results.evals.push_back({{"model", "tiny"}, {"device", "cpu"}, {"exact", share(0.5)}});
  results.benches.push_back(
      {{"model", "tiny"},
       {"native_kernels", "avx2"},
       {"step",
        {{{"path", "native mxint4"}, {"batch", 1}, {"threads", 1}, {"ratio_to_f32", 3.25}}}}});
  return results;
}

TEST(Figure, EachIsDrawnAndAlwaysTheSame) {
  const Results results = everything();
  for (const Figure& figure : figures()) {
    const std::string svg = draw_figure(results, {.name = std::string(figure.name), .schemes = {}});
    EXPECT_TRUE(svg.starts_with("<svg xmlns=")) << figure.name;
    EXPECT_TRUE(svg.ends_with("</svg>\n")) << figure.name;
    EXPECT_EQ(svg.find("nan"), std::string::npos) << figure.name;
    EXPECT_NE(svg.find("prefers-color-scheme:dark"), std::string::npos) << figure.name;
    EXPECT_EQ(svg, draw_figure(results, {.name = std::string(figure.name), .schemes = {}}));
    EXPECT_ERROR(draw_figure({}, {.name = std::string(figure.name), .schemes = {}}),
                 ErrorCode::InvalidArgument, "got no records for it");
  }
}

TEST(Figure, SaysTheNumbersOfTheRecords) {
  const Results results = everything();
  const auto has = [&](const char* figure, const char* text) {
    EXPECT_NE(draw_figure(results, {.name = figure, .schemes = {}}).find(text), std::string::npos)
        << figure << ": " << text;
  };
  has("ladder", ">80.0 %, contracts<");
  has("ladder", ">tiny, 2,000 boards<");
  has("qat", ">1.0 % → 70.0 %<");
  has("qat", ">int4, naive<");
  has("trajectory", ">mxint4, contracts<");
  has("speed", ">3.25 ×<");
  has("evals", ">50.0 % of 64<");
}

TEST(Figure, AnUnknownNameIsAnsweredWithTheKnownOnes) {
  EXPECT_ERROR(draw_figure({}, {.name = "lader", .schemes = {}}), ErrorCode::InvalidArgument,
               "did you mean 'ladder'");
  EXPECT_ERROR(draw_figure({}, {.name = "", .schemes = {}}), ErrorCode::InvalidArgument,
               "trajectory");
}

TEST(Figure, MoreCurvesThanCanBeToldApartHaveToBeChosen) {
  Results results;
  for (int64_t row = 0; row < 7; ++row)
    results.records.push_back(record("ladder", row, "int" + std::to_string(row + 2)));
  EXPECT_ERROR(draw_figure(results, {.name = "steps", .schemes = {}}), ErrorCode::InvalidArgument,
               "--schemes");
  const std::string svg = draw_figure(results, {.name = "steps", .schemes = {"int2", "int3"}});
  EXPECT_NE(svg.find(">int3<"), std::string::npos);
  EXPECT_EQ(svg.find(">int4<"), std::string::npos);
}

TEST(Figure, NamesWithMarkupStayText) {
  Results results = everything();
  results.records[0]["checkpoint"]["file"] = "<script>&.safetensors";
  const std::string svg = draw_figure(results, {.name = "ladder", .schemes = {}});
  EXPECT_EQ(svg.find("<script"), std::string::npos);
  EXPECT_NE(svg.find("&lt;script&gt;&amp;, 2,000"), std::string::npos);
}

TEST(Figure, AxesHaveRoundTicksAroundTheirValues) {
  Scale share({0.02, 0.87}, Axis::Linear, Unit::Share);
  EXPECT_EQ(share.ticks().size(), 6U);
  EXPECT_EQ(share.name(share.ticks().back()), "100 %");
  share.onto(100, 200);
  EXPECT_DOUBLE_EQ(share.at(0), 100);
  EXPECT_DOUBLE_EQ(share.at(7), 200);  // beyond the end
  const Scale log({3, 700}, Axis::Log, Unit::Number);
  EXPECT_EQ(log.ticks(), (std::vector<double>{10, 100}));
  EXPECT_FALSE(log.shows(0));
  EXPECT_EQ(grouped(-1234567), "-1,234,567");
  EXPECT_EQ(value_text(0.8354, Unit::Share), "83.5 %");
}

}  // namespace
}  // namespace driftless::report
