// SPDX-License-Identifier: Apache-2.0
#include "driftless/run/repack.h"

#include <gtest/gtest.h>

#include "driftless/run/rounding.h"

#include "tests/run/search/tiny_search.h"
#include "tests/testing/expect_error.h"
#include "tests/testing/run_program.h"

namespace driftless::run {
namespace {

constexpr const char* kBlocks = "int4_full/block32,scale=s4m3";

SchemeText scheme_of(const std::string& weights, const std::string& acts, bool delta) {
  SchemeText scheme;
  scheme.weights = weights;
  scheme.acts = acts;
  scheme.delta = delta;
  return scheme;
}

store::PackedModel packed(const SchemeText& scheme) {
  const store::Checkpoint checkpoint = testing::tiny_checkpoint();
  const BackendOptions native{.device = "native"};
  return pack(checkpoint, planned_scheme(scheme, checkpoint, native, {}), {}, native, {});
}

std::string bytes_of(const store::PackedModel& model) {
  const driftless::testing::TempDir dir;
  store::save_packed(dir.path() / "packed", model);
  return driftless::testing::text_of(dir.path() / "packed");
}

TEST(Repack, IsThePackingOfTheSourceUnderTheOtherActivations) {
  for (const std::string weights : {kBlocks, "mxint4", "int8/channel"}) {
    const store::PackedModel before = packed(scheme_of(weights, "int8/token", false));
    for (const std::string acts : {kBlocks, "mxint4", "int8/token"}) {
      for (const bool delta : {false, true}) {
        const store::PackedModel after = repack(before, scheme_of("none", acts, delta));
        EXPECT_TRUE(bytes_of(after) == bytes_of(packed(scheme_of(weights, acts, delta))))
            << weights << " " << acts << " " << delta;
      }
    }
  }
}

TEST(Repack, StaticScalesAreForgotten) {
  SchemeText called = scheme_of("mxint4", "int8/tensor/static", false);
  called.scales = "call";
  called.calibration.boards = 1;
  EXPECT_TRUE(bytes_of(repack(packed(called), scheme_of("none", "mxint4", true))) ==
              bytes_of(packed(scheme_of("mxint4", "mxint4", true))));
}

TEST(Repack, GoesBack) {
  const store::PackedModel before = packed(scheme_of(kBlocks, kBlocks, false));
  const store::PackedModel changed = repack(before, scheme_of("none", kBlocks, true));
  EXPECT_FALSE(bytes_of(changed) == bytes_of(before));
  EXPECT_TRUE(bytes_of(repack(changed, scheme_of("none", kBlocks, false))) == bytes_of(before));
}

TEST(Repack, TakesActivationsAlone) {
  const store::PackedModel model = packed(scheme_of("mxint4", "mxint4", false));
  const auto expect_refused = [&](const SchemeText& scheme, const std::string& what) {
    EXPECT_ERROR(repack(model, scheme), ErrorCode::InvalidArgument, what);
  };
  expect_refused(scheme_of("mxint8", "mxint8", false), "keeps its weights");
  expect_refused(scheme_of("none", "none", true), "expected --acts");
  expect_refused(scheme_of("none", "int8/tensor/static", false), "whose scales need boards");
  SchemeText rotated = scheme_of("none", "mxint4", false);
  rotated.hadamard = true;
  expect_refused(rotated, "its source takes any scheme");
}

}  // namespace
}  // namespace driftless::run
