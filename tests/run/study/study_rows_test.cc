// SPDX-License-Identifier: Apache-2.0
#include "driftless/run/study/study_rows.h"

#include <gtest/gtest.h>

#include "driftless/reason/plan/linear_layers.h"

#include "tests/testing/expect_error.h"

namespace driftless::run {
namespace {

model::ModelConfig small_config() {
  model::ModelConfig config;
  config.hidden_size = 32;
  config.num_heads = 1;
  return config;
}

TEST(StudyRows, FloatRowsTakeNeitherAttentionNorIntegers) {
  const std::vector<study::Row> rows =
      resolve({.schemes = {"none", "mxint4"}, .attention = "int8"}, small_config());
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].scheme.attention, quant::AttentionPrecision::Float);
  EXPECT_EQ(rows[1].scheme.attention, quant::AttentionPrecision::Int8);
  EXPECT_EQ(native_row(rows[0]), rows[0]);
  const study::Row native = native_row(rows[1]);
  EXPECT_EQ(native.execution, study::Execution::Native);
  EXPECT_EQ(to_string(native.scheme.weights), "mxint4,window=4");
}

TEST(StudyRows, ANativeRowStandsBehindItsSimulation) {
  std::vector<study::Row> rows = resolve({.schemes = {"none", "mxint4"}}, small_config());
  EXPECT_EQ(with_simulations(rows), rows) << "nothing is native";
  rows[1] = native_row(rows[1]);
  const std::vector<study::Row> all = with_simulations(rows);
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0], rows[0]);
  EXPECT_EQ(all[1].execution, study::Execution::Simulated);
  EXPECT_EQ(all[1].scheme, rows[1].scheme);
  EXPECT_EQ(all[2], rows[1]);
}

TEST(StudyRows, APackedModelsRowKeepsItsPlan) {
  store::PackedModel packed;
  packed.config = small_config();
  const auto layers = reason::linear_layers(packed.config);
  packed.plan = quant::resolve({.weights = quant::parse_quant_spec("mxint4"),
                                .acts = quant::parse_quant_spec("mxint4"),
                                .coverage = quant::Coverage::Linear,
                                .attention = quant::AttentionPrecision::Int8},
                               layers);
  const study::Row row = row_of(packed);
  EXPECT_EQ(row.plan, packed.plan);
  EXPECT_EQ(row.scheme.coverage, quant::Coverage::Linear);
  EXPECT_EQ(row.scheme.attention, quant::AttentionPrecision::Int8);
  packed.plan.layers.back().weights = quant::parse_quant_spec("mxint8");
  EXPECT_ERROR(row_of(packed), ErrorCode::Unsupported, "since layers differ");
}

}  // namespace
}  // namespace driftless::run
