// SPDX-License-Identifier: Apache-2.0
#include "driftless/run/compare/scheme_list.h"

#include <gtest/gtest.h>

#include "tests/testing/expect_error.h"

namespace driftless::run {
namespace {

using Schemes = std::vector<std::string>;

TEST(SchemeList, CommasPartSchemesButNotOptions) {
  EXPECT_EQ(split_schemes("none"), Schemes{"none"});
  EXPECT_EQ(split_schemes("none,int4/tensor,mxint4"), (Schemes{"none", "int4/tensor", "mxint4"}));
  EXPECT_EQ(split_schemes("mxint4,rule=mse,block=16,int4/tensor/static,calib=p99.9"),
            (Schemes{"mxint4,rule=mse,block=16", "int4/tensor/static,calib=p99.9"}));
  EXPECT_EQ(split_schemes("mxint4,rule=mse:mxint8,window=4,none:int8/token"),
            (Schemes{"mxint4,rule=mse:mxint8,window=4", "none:int8/token"}));
  for (const char* text : {"", ",none", "none,", "none,,mxint4"})
    EXPECT_ERROR(split_schemes(text), ErrorCode::InvalidArgument, "between two commas");
}

TEST(SchemeList, QuantizersReplaceThePairAlone) {
  SchemeText scheme;
  scheme.coverage = "linear";
  const SchemeText both = with_quantizers(scheme, "mxint4,rule=mse");
  EXPECT_EQ(both.weights, "mxint4,rule=mse");
  EXPECT_EQ(both.acts, "mxint4,rule=mse");
  EXPECT_EQ(both.coverage, "linear");
  const SchemeText pair = with_quantizers(scheme, "int4/channel:none");
  EXPECT_EQ(pair.weights, "int4/channel");
  EXPECT_EQ(pair.acts, "none");
  EXPECT_FALSE(is_float(pair));
  EXPECT_TRUE(is_float(with_quantizers(scheme, "none")));
  scheme.plan = "plan.json";
  EXPECT_FALSE(is_float(scheme));
}

}  // namespace
}  // namespace driftless::run
