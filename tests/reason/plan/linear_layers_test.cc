// SPDX-License-Identifier: Apache-2.0
#include "driftless/reason/plan/linear_layers.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "driftless/model/presets.h"

namespace driftless::reason {
namespace {

TEST(LinearLayers, AreThoseOfThePublishedSudokuModel) {
  const auto layers = linear_layers(model::find_preset("trm-sudoku-mlp").config);
  // Two blocks of mlp_t and mlp, gate_up and down each, then the two heads.
  ASSERT_EQ(layers.size(), 10u);
  EXPECT_EQ(layers[0].name, "L_level.layers.0.mlp_t.gate_up_proj.weight");
  EXPECT_EQ(layers[0].outputs, 1024);
  EXPECT_EQ(layers[0].inputs, 97);
  EXPECT_EQ(layers[8].name, "lm_head.weight");
  EXPECT_EQ(layers[9].name, "q_head.weight");
  for (size_t i = 0; i < layers.size(); ++i) {
    EXPECT_EQ(layers[i].is_in_block, i < 8) << layers[i].name;
    EXPECT_EQ(layers[i].has_bias, i == 9) << layers[i].name;
  }
}

TEST(LinearLayers, LeaveOutEmbeddings) {
  for (const model::Preset& preset : model::presets())
    for (const quant::LinearLayer& layer : linear_layers(preset.config)) {
      EXPECT_EQ(layer.name.find("emb"), std::string::npos) << layer.name;
      EXPECT_GT(layer.outputs * layer.inputs, 0) << layer.name;
    }
}

}  // namespace
}  // namespace driftless::reason
