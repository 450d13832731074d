// SPDX-License-Identifier: Apache-2.0
#include "driftless/quant/plan/scheme.h"

#include <gtest/gtest.h>

#include "tests/testing/expect_error.h"

namespace driftless::quant {
namespace {

TEST(Scheme, EveryNameReadsBack) {
  for (const auto& row : kCoverages) EXPECT_EQ(parse_coverage(to_string(row.value)), row.value);
  for (const auto& row : kBiasPrecisions)
    EXPECT_EQ(parse_bias_precision(to_string(row.value)), row.value);
  for (const auto& row : kScaleSharings)
    EXPECT_EQ(parse_scale_sharing(to_string(row.value)), row.value);
}

TEST(Scheme, TextSaysThePairTheCoverageAndWhatIsSpecial) {
  EXPECT_EQ(to_string(Scheme{}), "weights none, acts none, coverage block");
  const Scheme scheme{.weights = parse_quant_spec("int4/channel"),
                      .acts = parse_quant_spec("int4/tensor/static"),
                      .coverage = Coverage::Linear,
                      .bias = BiasPrecision::Int16,
                      .sharing = ScaleSharing::Role,
                      .smooth = 0.75,
                      .hadamard = true,
                      .delta = true};
  EXPECT_EQ(to_string(scheme),
            "weights int4/channel, acts int4/tensor/static, coverage linear, bias int16, scales "
            "per role, smooth 0.75, hadamard, delta");
}

TEST(Scheme, NamesTheNearestWord) {
  EXPECT_ERROR(parse_coverage("blok"), ErrorCode::InvalidArgument, "did you mean 'block'");
  EXPECT_ERROR(parse_bias_precision("int23"), ErrorCode::InvalidArgument, "int32");
  EXPECT_ERROR(parse_scale_sharing("roles"), ErrorCode::InvalidArgument, "'role'");
}

}  // namespace
}  // namespace driftless::quant
