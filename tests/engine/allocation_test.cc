// SPDX-License-Identifier: Apache-2.0
// The step loop allocates nothing of its own. oneDNN makes a small context object for each product
// it executes; allocations that oneDNN's library asks for are not counted.
#include <atomic>
#include <cstdlib>
#include <new>
#include <string_view>

#include <dlfcn.h>
#include <gtest/gtest.h>

#include "driftless/engine/cpu_reasoner.h"
#include "driftless/reason/linear_layers.h"

#include "tests/engine/random_model.h"

namespace {

std::atomic<int64_t> allocations{0};

void* counted(size_t size, size_t alignment, void* caller) {
  Dl_info library{};
  const bool is_known = dladdr(caller, &library) != 0 && library.dli_fname != nullptr;
  if (!is_known || std::string_view(library.dli_fname).find("libdnnl") == std::string_view::npos)
    ++allocations;
  void* const memory =
      std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

// g++ inlines these definitions of new and delete and then takes them for a mismatched pair.
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"

void* operator new(size_t size) { return counted(size, 16, __builtin_return_address(0)); }
void* operator new[](size_t size) { return counted(size, 16, __builtin_return_address(0)); }
void* operator new(size_t size, std::align_val_t alignment) {
  return counted(size, static_cast<size_t>(alignment), __builtin_return_address(0));
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, size_t, std::align_val_t) noexcept { std::free(memory); }

namespace driftless::engine {
namespace {

/// One step after another, all linear layers under these quantizers.
void expect_no_allocations(const quant::Scheme& scheme) {
  for (const testing::NamedConfig& named : testing::named_configs())
    for (const int64_t threads : {1, 2}) {
      quant::QuantPlan plan = quant::resolve(scheme, reason::linear_layers(named.config));
      for (quant::LayerPlan& layer : plan.layers)
        if (layer.needs_scales()) layer.scales = {{0.25f}};
      const int64_t before_building = allocations;
      const auto reasoner = make_cpu_reasoner(testing::random_checkpoint(named.config, 3),
                                              {.slots = 3, .threads = threads, .plan = &plan});
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

TEST(StepLoop, AllocatesNothing) { expect_no_allocations({}); }

TEST(StepLoop, AllocatesNothingUnderSimulatedQuantization) {
  for (const char* acts : {"mxint4", "mxfp4,rule=mse", "nvfp4", "int4", "int4/token",
                           "uint4/group32", "int4/tensor/static"})
    expect_no_allocations({.weights = quant::parse_quant_spec("mxint4"),
                           .acts = quant::parse_quant_spec(acts),
                           .coverage = quant::Coverage::Linear,
                           .hadamard = std::string_view(acts) == "mxint4"});
}

}  // namespace
}  // namespace driftless::engine
