// SPDX-License-Identifier: Apache-2.0
#include "driftless/run/scheme.h"

#include <gtest/gtest.h>

#include "tests/testing/expect_error.h"

namespace driftless::run {
namespace {

SchemeText pair_of(const std::string& weights, const std::string& acts) {
  SchemeText scheme;
  scheme.weights = weights;
  scheme.acts = acts;
  return scheme;
}

store::ModelFile float_model() {
  store::ModelFile model;
  model.checkpoint.config.hidden_size = 32;
  model.checkpoint.config.num_heads = 1;
  return model;
}

TEST(PackingScheme, ActivationsFollowMxWeightsAlone) {
  EXPECT_EQ(packing_scheme(pair_of("mxint4", "none")).acts, "mxint4");
  EXPECT_EQ(packing_scheme(pair_of("mxint4", "mxint8")).acts, "mxint8");
  EXPECT_EQ(packing_scheme(pair_of("int4/channel", "none")).acts, "none");
}

TEST(PackingScheme, SomethingMustBeQuantized) {
  EXPECT_ERROR(packing_scheme({}), ErrorCode::InvalidArgument, "nothing to pack");
  SchemeText planned;
  planned.plan = "plan.json";
  EXPECT_EQ(packing_scheme(planned).weights, "none") << "the plan says what";
}

TEST(PlannedScheme, NativeOnesGetTheWindowAndNeedQuantizers) {
  const store::ModelFile model = float_model();
  const PlannedScheme cpu = planned_scheme(pair_of("mxint4", "mxint4"), model, {}, {});
  EXPECT_EQ(cpu.text, "weights mxint4, acts mxint4, coverage block");
  const PlannedScheme native =
      planned_scheme(pair_of("mxint4", "mxint4"), model, {.device = "native"}, {});
  EXPECT_EQ(native.text, "weights mxint4,window=4, acts mxint4,window=4, coverage block");
  EXPECT_TRUE(planned_scheme({}, model, {}, {}).plan.is_float());
  EXPECT_ERROR(planned_scheme({}, model, {.device = "native"}, {}), ErrorCode::InvalidArgument,
               "--native: nothing is quantized");
}

TEST(PlannedScheme, APackedModelBringsItsOwn) {
  store::ModelFile model = float_model();
  model.packed.emplace();
  model.packed->config = model.checkpoint.config;
  model.packed->plan = planned_scheme(pair_of("mxint8", "mxint8"), model.checkpoint, {}, {}).plan;
  model.packed->calibration = "8 boards of a.csv, seed 1";
  const PlannedScheme own = planned_scheme({}, model, {}, {});
  EXPECT_EQ(own.plan, model.packed->plan);
  EXPECT_EQ(own.calibration, "8 boards of a.csv, seed 1");
  EXPECT_ERROR(planned_scheme(pair_of("mxint4", "none"), model, {}, {}), ErrorCode::InvalidArgument,
               "quantized already");
}

}  // namespace
}  // namespace driftless::run
