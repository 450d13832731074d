// SPDX-License-Identifier: Apache-2.0
#include "driftless/study/record/row.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "driftless/model/presets.h"
#include "driftless/reason/plan/linear_layers.h"

#include "tests/testing/expect_error.h"

namespace driftless::study {
namespace {

double bits(std::string_view spec) { return bits_per_value(quant::parse_quant_spec(spec), 64); }

TEST(Row, BitsCountTheScales) {
  EXPECT_EQ(bits("none"), 32);
  EXPECT_EQ(bits("int4/tensor/static"), 4);
  EXPECT_EQ(bits("int4/channel"), 4.5);
  EXPECT_EQ(bits("int4/token"), 4.5);
  EXPECT_EQ(bits("int4/group32"), 5);
  EXPECT_EQ(bits("mxint4"), 4.25);
  EXPECT_EQ(bits("int4/block32,scale=e5m3"), 4.25);
  EXPECT_EQ(bits("int4/block32,scale=fp16"), 4.5);
  EXPECT_EQ(bits("nvfp4"), 4.5);
  EXPECT_EQ(bits("mxint4,block=16"), 4.5);
  EXPECT_EQ(bits("bf16"), 16);
}

TEST(Row, BitsOfAPlanAreWeightedMeans) {
  const std::vector<quant::LinearLayer> layers = {{.name = "a", .outputs = 3, .inputs = 64},
                                                  {.name = "b", .outputs = 1, .inputs = 64}};
  const quant::QuantSpec mxint4 = quant::parse_quant_spec("mxint4");
  const quant::QuantPlan plan{.layers = {{.name = "a", .weights = mxint4, .acts = mxint4}}};
  EXPECT_EQ(bits_of(plan, layers).weights, (3 * 4.25 + 32) / 4);
  EXPECT_EQ(bits_of(plan, layers).acts, (4.25 + 32) / 2);
  EXPECT_EQ(bits_of({}, {}).weights, 32);
}

TEST(Row, MultiplyAddsOfThePublishedModel) {
  // 42 block applications of 305.1 million a step, as tests/simulate counts them, and the heads.
  const model::ModelConfig config = model::find_preset("trm-sudoku-mlp").config;
  EXPECT_NEAR(static_cast<double>(multiply_adds(config, 1)) / 1e9, 12.82, 0.01);
  EXPECT_EQ(multiply_adds(config, 16), 16 * multiply_adds(config, 1));
}

TEST(Row, VariesCyclesWhereTheWeightsAllowIt) {
  model::ModelConfig config = model::find_preset("trm-sudoku-mlp").config;
  Row row;
  row.l_cycles = 2;
  const Row resolved = resolve(row, config);
  EXPECT_EQ(vary(config, resolved).l_cycles, 2);
  EXPECT_EQ(vary(config, resolved).h_cycles, config.h_cycles);
  EXPECT_EQ(to_json(resolved).at("l_cycles"), 2);
  config.arch = model::Arch::TrmUntied;
  EXPECT_ERROR(vary(config, resolved), ErrorCode::BadConfig, "l_cycles; got 2");
}

}  // namespace
}  // namespace driftless::study
