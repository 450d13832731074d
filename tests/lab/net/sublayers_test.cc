// SPDX-License-Identifier: Apache-2.0
// What a run says about its mixers; their values are compared with plain ones by recursive_net_test
// and, on a GPU, by `driftless train check`.
#include "driftless/lab/net/sublayers.h"

#include <gtest/gtest.h>

#include "tests/lab/tiny_run.h"

namespace driftless::lab {
namespace {

TEST(MixersNote, OnACpuSaysWhatFusedOnesNeed) {
  model::ModelConfig config = testing::tiny_recipe().model;
  EXPECT_EQ(mixers_note(config, at::kCPU),
            "mixers: tokens apart, channels apart: fused ones need a Hopper GPU, and "
            "DRIFTLESS_MIXERS to allow them");
  config.mixer = model::Mixer::Attention;
  EXPECT_TRUE(mixers_note(config, at::kCPU).starts_with("mixers: channels apart: fused ones"));
}

}  // namespace
}  // namespace driftless::lab
