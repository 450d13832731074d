// SPDX-License-Identifier: Apache-2.0
// Learned rounding by hand: one block whose scale is 13/128.
#include "driftless/lab/quant/learned_rounding.h"

#include <string>

#include <gtest/gtest.h>

#include "tests/lab/qat_run.h"
#include "tests/testing/expect_error.h"

namespace driftless::lab {
namespace {

TEST(LearnedRounding, CodesAreTheTwoNextToTheFloatValue) {
  const Recipe recipe = testing::tiny_recipe();
  const ParameterLayout layout(recipe.model);
  const std::string name = "L_level.layers.0.mlp.down_proj.weight";
  quant::QuantPlan plan;
  plan.layers.push_back(
      {.name = name, .weights = quant::parse_quant_spec("int4/block32,scale=e5m3")});
  const at::Tensor origin = at::zeros({layout.size()}, at::kFloat);
  at::Tensor row = layout.view(origin, name)[0];
  constexpr float kSpacing = 13.0f / 128;  // the e5m3 scale nearest to 0.7 / 7
  row[0] = 0.7f;                           // 6.89 spacings
  row[1] = 0.26f;                          // 2.56
  row[2] = -0.26f;
  const LearnedRounding rounding(layout, plan, origin);
  const auto codes_of = [&](at::Tensor weights) {
    rounding.confine(weights);
    return layout.view(rounding.rounded(weights), name)[0].narrow(0, 0, 4) / kSpacing;
  };
  const auto expected = [](float a, float b, float c, float d) {
    return at::tensor(at::ArrayRef<float>({a, b, c, d}));
  };
  EXPECT_TRUE(at::equal(codes_of(origin.clone()), expected(7, 3, -3, 0)));
  EXPECT_TRUE(at::equal(codes_of(at::full_like(origin, 10.0f)), expected(7, 3, -2, 0)));
  EXPECT_TRUE(at::equal(codes_of(at::full_like(origin, -10.0f)), expected(6, 2, -3, 0)));
  // What the plan leaves out has nowhere to go.
  at::Tensor all = at::full_like(origin, 10.0f);
  rounding.confine(all);
  EXPECT_EQ(layout.view(rounding.rounded(all), "q_head.bias").abs().max().item<float>(), 0);
}

TEST(LearnedRounding, FormatsWithoutOneGridAreRefused) {
  for (const char* text : {"mxfp4", "uint4/channel", "int4/tensor/static", "mxint4,window=4"})
    driftless::testing::expect_error(ErrorCode::BadConfig, "cannot learn how it rounds", [&] {
      require_roundable(quant::parse_quant_spec(text), "recipe");
    });
  for (const char* text : {"mxint4", "int4/channel", "int4_full/block32,scale=s4m3"})
    EXPECT_NO_THROW(require_roundable(quant::parse_quant_spec(text), "recipe"));
}

}  // namespace
}  // namespace driftless::lab
