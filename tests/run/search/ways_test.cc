// SPDX-License-Identifier: Apache-2.0
#include "driftless/run/search/ways.h"

#include <cmath>
#include <set>

#include <gtest/gtest.h>

#include "driftless/reason/plan/linear_layers.h"

#include "tests/run/search/tiny_search.h"
#include "tests/testing/expect_error.h"

namespace driftless::run {
namespace {

constexpr study::Execution kNative = study::Execution::Native;

class Ways : public ::testing::Test {
 protected:
  [[nodiscard]] Stored stored(const std::string& quantizer) const {
    SchemeText text;
    text.weights = text.acts = quantizer;
    const PlannedScheme planned = planned_scheme(text, checkpoint_, backend_, {});
    return {planned.plan, std::vector<Rounding>(planned.plan.layers.size(), Rounding::Nearest)};
  }

  BackendOptions backend_{.device = "native"};
  store::Checkpoint checkpoint_ = testing::tiny_checkpoint();
};

TEST(ElementBits, AreThoseOfBlocksWithTheirScales) {
  EXPECT_EQ(element_bits(2.25), 2);
  EXPECT_EQ(element_bits(3.24), 2);
  EXPECT_EQ(element_bits(3.25), 3);
  EXPECT_EQ(element_bits(3.5), 3);
  EXPECT_EQ(element_bits(5), 4);
  for (const double bits : {2.24, 5.25, 0.0, std::nan("")})
    EXPECT_ERROR(element_bits(bits), ErrorCode::InvalidArgument, "--bits");
}

TEST_F(Ways, MeansCountValuesOfAStep) {
  // Positions 81, width 32: of four inputs the token mixer's have 32 rows, the others 81.
  Stored model = stored("mxint4");
  EXPECT_DOUBLE_EQ(mean_bits(model.plan, checkpoint_.config).weights, 4.25);
  EXPECT_DOUBLE_EQ(mean_bits(model.plan, checkpoint_.config).acts, 4.25);
  double weights = 0, wide_weights = 0, values = 0, wide_values = 0;
  for (const quant::LinearLayer& layer : reason::linear_layers(checkpoint_.config)) {
    if (!layer.is_in_block) continue;
    const bool is_wide = layer.name.find(".mlp_t.down") != std::string::npos;
    const bool mixes_tokens = layer.name.find(".mlp_t.") != std::string::npos;
    const auto count = static_cast<double>((mixes_tokens ? 32 : 81) * layer.inputs);
    weights += static_cast<double>(layer.outputs * layer.inputs);
    values += count;
    if (!is_wide) continue;
    wide_weights += static_cast<double>(layer.outputs * layer.inputs);
    wide_values += count;
  }
  for (quant::LayerPlan& layer : model.plan.layers)
    if (layer.name.find(".mlp_t.down") != std::string::npos)
      layer.weights = layer.acts = quant::parse_quant_spec("mxint8");
  ASSERT_GT(wide_values, 0);
  const study::PlanBits bits = mean_bits(model.plan, checkpoint_.config);
  EXPECT_DOUBLE_EQ(bits.weights, 4.25 + 4 * wide_weights / weights);
  EXPECT_DOUBLE_EQ(bits.acts, 4.25 + 4 * wide_values / values);
}

TEST_F(Ways, EveryChangeIsOfOneLayerAndRunsNatively) {
  const Stored model = stored("int3/block32,scale=e5m3");
  Packer packer(checkpoint_, backend_, {.boards = 1});
  packer.see_under(model.plan);
  std::vector<Change> changes = widened(model, 1, Side::Weights, kNative);
  for (Change& change : widened(model, 1, Side::Acts, kNative)) changes.push_back(change);
  for (const Part part : kParts)
    for (Change& change : alternatives(model, 1, part, kNative)) changes.push_back(change);
  std::set<std::string> names;
  for (const Change& change : changes) {
    EXPECT_TRUE(names.insert(change.name).second) << change.name;
    EXPECT_TRUE(change.name.starts_with(model.plan.layers[1].name)) << change.name;
    for (size_t i = 0; i < model.roundings.size(); ++i) {
      const bool is_same = change.stored.plan.layers[i] == model.plan.layers[i] &&
                           change.stored.roundings[i] == model.roundings[i];
      EXPECT_EQ(is_same, i != 1) << change.name;
    }
    EXPECT_NO_THROW(
        (void)make_reasoner(packer.pack(change.stored.plan, change.stored.roundings), backend_))
        << change.name;
  }
  // Six wider formats a side; two other scales, fit, clip, and gptq and descent with and without
  // it; two scales, two rules.
  EXPECT_EQ(changes.size(), 12u + 8u + 4u);
}

TEST_F(Ways, MethodsGoWhereTheyApply) {
  const Stored fitted = with_method(stored("int4/block32,scale=e5m3"), {.rounding = Rounding::Fit});
  for (const Change& change : alternatives(fitted, 0, Part::WeightScales, kNative)) {
    const bool has_codes = change.stored.plan.layers[0].weights.has_scale_codes();
    EXPECT_EQ(change.stored.roundings[0], has_codes ? Rounding::Fit : Rounding::Nearest)
        << change.name;
  }
  for (const Change& change : alternatives(stored("mxint4"), 0, Part::WeightMethod, kNative))
    EXPECT_NE(change.stored.roundings[0], Rounding::Fit);
  Stored wide = stored("mxint4");
  wide.plan.layers[0].acts = quant::parse_quant_spec("int8/token");
  EXPECT_TRUE(alternatives(wide, 0, Part::ActScales, kNative).empty());
  EXPECT_TRUE(alternatives(wide, 0, Part::ActRule, kNative).empty());
}

}  // namespace
}  // namespace driftless::run
