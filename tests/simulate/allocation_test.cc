// SPDX-License-Identifier: Apache-2.0
// The step loop allocates nothing of its own.
#include <span>

#include <gtest/gtest.h>

#include "driftless/reason/plan/linear_layers.h"
#include "driftless/simulate/cpu_reasoner.h"

#include "tests/simulate/random_model.h"
#include "tests/testing/counted_new.inc"

namespace driftless::simulate {
namespace {

/// One step after another, all linear layers under these quantizers.
void expect_no_allocations(const quant::Scheme& scheme,
                           std::span<const testing::NamedConfig> models,
                           Dtype dtype = Dtype::Float32) {
  for (const testing::NamedConfig& named : models)
    for (const int64_t threads : {1, 2}) {
      quant::QuantPlan plan = quant::resolve(scheme, reason::linear_layers(named.config));
      for (quant::LayerPlan& layer : plan.layers)
        if (layer.needs_scales()) layer.scales = {{0.25f}};
      const int64_t before_building = allocations;
      const auto reasoner =
          make_cpu_reasoner(testing::random_checkpoint(named.config, 3),
                            {.slots = 3, .threads = threads, .dtype = dtype, .plan = &plan});
      EXPECT_GT(allocations, before_building) << "the counter does not count";
      const std::vector<int64_t> slots = {0, 1, 2};
      for (const int64_t slot : slots)
        reasoner->reset(slot, {.tokens = testing::random_tokens(named.config, 1)});
      reasoner->step(slots);
      const int64_t before = allocations;
      reasoner->step(slots);
      EXPECT_EQ(allocations - before, 0)
          << named.name << ", " << threads << " threads, " << to_string(scheme);
    }
}

TEST(StepLoop, AllocatesNothing) {
  for (const auto& dtype : kDtypeNames)
    expect_no_allocations({}, testing::named_configs(), dtype.value);
}

TEST(StepLoop, AllocatesNothingUnderSimulatedQuantization) {
  // A token mixer and attention: small ones, since counting is slow.
  std::vector<testing::NamedConfig> models = {testing::named_configs()[0],
                                              testing::named_configs()[6]};
  for (const char* acts : {"mxint4", "mxfp4,rule=mse", "nvfp4", "int4", "int4/token",
                           "uint4/group32", "int4/tensor/static"})
    expect_no_allocations({.weights = quant::parse_quant_spec("mxint4"),
                           .acts = quant::parse_quant_spec(acts),
                           .coverage = quant::Coverage::Linear,
                           .hadamard = std::string_view(acts) == "mxint4"},
                          models);
}

}  // namespace
}  // namespace driftless::simulate
