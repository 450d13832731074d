// SPDX-License-Identifier: Apache-2.0
#include "driftless/model/shapes.h"

#include <map>
#include <set>

#include <gtest/gtest.h>

#include "driftless/model/presets.h"

namespace driftless::model {
namespace {

std::map<std::string, std::vector<int64_t>> shapes_of(const ModelConfig& config) {
  std::map<std::string, std::vector<int64_t>> shapes;
  for (const ParamSpec& spec : parameters(config)) shapes[spec.name] = spec.shape;
  return shapes;
}

TEST(Shapes, SwigluInnerFollowsTheReferenceTable) {
  // width -> inner at expansion 4, as the reference implementation computes them.
  const std::map<int64_t, int64_t> table = {{24, 256},   {42, 256},   {64, 256},   {81, 256},
                                            {82, 256},   {97, 512},   {128, 512},  {256, 768},
                                            {512, 1536}, {900, 2560}, {901, 2560}, {916, 2560}};
  for (const auto& [width, inner] : table) EXPECT_EQ(swiglu_inner(width, 4), inner) << width;
  // 0.25 * 1539 * 2 / 3 = 256.5 is a tie: it rounds to the even 256, not to 257 and so to 512.
  EXPECT_EQ(swiglu_inner(1539, 0.25), 256);
}

TEST(Shapes, SudokuTokenMixerHasTheFifteenPublishedKeys) {
  const std::map<std::string, std::vector<int64_t>> expected = {
      {"H_init", {512}},
      {"L_init", {512}},
      {"embed_tokens.embedding_weight", {11, 512}},
      {"lm_head.weight", {11, 512}},
      {"q_head.weight", {2, 512}},
      {"q_head.bias", {2}},
      {"puzzle_emb.weights", {1, 512}},
      {"L_level.layers.0.mlp_t.gate_up_proj.weight", {1024, 97}},
      {"L_level.layers.0.mlp_t.down_proj.weight", {97, 512}},
      {"L_level.layers.0.mlp.gate_up_proj.weight", {3072, 512}},
      {"L_level.layers.0.mlp.down_proj.weight", {512, 1536}},
      {"L_level.layers.1.mlp_t.gate_up_proj.weight", {1024, 97}},
      {"L_level.layers.1.mlp_t.down_proj.weight", {97, 512}},
      {"L_level.layers.1.mlp.gate_up_proj.weight", {3072, 512}},
      {"L_level.layers.1.mlp.down_proj.weight", {512, 1536}}};
  EXPECT_EQ(shapes_of(find_preset("trm-sudoku-mlp").config), expected);
}

TEST(Shapes, AttentionReplacesTheTokenMixer) {
  const auto shapes = shapes_of(find_preset("trm-maze").config);
  EXPECT_EQ(shapes.at("L_level.layers.1.self_attn.qkv_proj.weight"),
            (std::vector<int64_t>{1536, 512}));
  EXPECT_EQ(shapes.at("L_level.layers.1.self_attn.o_proj.weight"),
            (std::vector<int64_t>{512, 512}));
  EXPECT_FALSE(shapes.contains("L_level.layers.0.mlp_t.down_proj.weight"));
}

TEST(Shapes, LearnedPositionsAddATable) {
  ModelConfig config = find_preset("trm-sudoku-att").config;
  config.positions = Positions::Learned;
  EXPECT_EQ(shapes_of(config).at("embed_pos.embedding_weight"), (std::vector<int64_t>{97, 512}));
}

TEST(Shapes, EqrHasNoInitialStatesAndNoPuzzleTable) {
  const auto shapes = shapes_of(find_preset("eqr-sudoku").config);
  EXPECT_FALSE(shapes.contains("H_init"));
  EXPECT_FALSE(shapes.contains("L_init"));
  EXPECT_FALSE(shapes.contains("puzzle_emb.weights"));
}

TEST(Shapes, HrmHasTwoNetworksOfFourBlocks) {
  const auto nets = networks(find_preset("hrm-sudoku").config);
  ASSERT_EQ(nets.size(), 2u);
  EXPECT_EQ(layer_name(nets[0], 3), "L_level.layers.3");
  EXPECT_EQ(layer_name(nets[1], 0), "H_level.layers.0");
  EXPECT_TRUE(shapes_of(find_preset("hrm-sudoku").config)
                  .contains("H_level.layers.3.self_attn.o_proj.weight"));
}

TEST(Shapes, UntiedRepeatsTheNetworkForEachInnerPosition) {
  const ModelConfig tied = find_preset("trm-sudoku-mlp-256").config;
  ModelConfig untied = tied;
  untied.arch = Arch::TrmUntied;
  EXPECT_TRUE(shapes_of(untied).contains("L_level.cycles.6.layers.1.mlp.down_proj.weight"));
  EXPECT_FALSE(shapes_of(untied).contains("L_level.layers.0.mlp.down_proj.weight"));
  int64_t network = 0;
  for (const ParamSpec& spec : parameters(tied))
    if (spec.name.starts_with("L_level.")) network += element_count(spec);
  EXPECT_EQ(trainable_count(untied), trainable_count(tied) + 6 * network);
}

TEST(Shapes, NamesAreUnique) {
  for (const Preset& preset : presets()) {
    std::set<std::string> names;
    for (const ParamSpec& spec : parameters(preset.config))
      EXPECT_TRUE(names.insert(spec.name).second) << preset.name << " " << spec.name;
  }
}

TEST(Shapes, HeadWidthAndPositions) {
  EXPECT_EQ(head_width(find_preset("trm-maze").config), 64);
  EXPECT_EQ(head_width(find_preset("eqr-maze-unique").config), 16);
  EXPECT_EQ(positions_count(find_preset("trm-maze").config), 916);
  EXPECT_EQ(positions_count(find_preset("hrm-sudoku").config), 82);
  EXPECT_EQ(positions_count(find_preset("eqr-sudoku").config), 81);
}

}  // namespace
}  // namespace driftless::model
