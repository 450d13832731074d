// SPDX-License-Identifier: Apache-2.0
// The step loop of the native reasoner allocates nothing.
#include <vector>

#include <gtest/gtest.h>

#include "driftless/native/native_reasoner.h"
#include "driftless/reason/plan/linear_layers.h"

#include "tests/simulate/random_model.h"
#include "tests/testing/counted_new.inc"

namespace driftless::native {
namespace {

TEST(NativeStepLoop, AllocatesNothing) {
  for (const simulate::testing::NamedConfig& named : simulate::testing::named_configs())
    for (const char* acts : {"mxint4,window=4", "mxint8,window=3", "int8/token"})
      for (const int64_t threads : {1, 2}) {
        // Every second format with attention in int8, where there is attention.
        const bool has_codes = named.config.mixer == model::Mixer::Attention && acts[0] == 'm';
        const auto attention =
            has_codes ? quant::AttentionPrecision::Int8 : quant::AttentionPrecision::Float;
        const auto plan = quant::resolve({.weights = quant::parse_quant_spec("mxint4,window=4"),
                                          .acts = quant::parse_quant_spec(acts),
                                          .coverage = quant::Coverage::Linear,
                                          .attention = attention},
                                         reason::linear_layers(named.config));
        const auto packed =
            store::pack_model(simulate::testing::random_checkpoint(named.config, 3), plan);
        const auto reasoner = make_native_reasoner(packed, {.slots = 3, .threads = threads});
        EXPECT_GT(allocations, 0) << "the counter does not count";
        const std::vector<int64_t> slots = {0, 1, 2};
        const auto tokens = simulate::testing::random_tokens(named.config, 1);
        for (const int64_t slot : slots) reasoner->reset(slot, {.tokens = tokens});
        const int64_t before = allocations;
        reasoner->step(slots);
        EXPECT_EQ(allocations - before, 0) << named.name << ", " << acts;
      }
}

}  // namespace
}  // namespace driftless::native
