// SPDX-License-Identifier: Apache-2.0
// The step loop of the native reasoner allocates nothing.
#include <atomic>
#include <cstdlib>
#include <new>
#include <vector>

#include <gtest/gtest.h>

#include "driftless/native/native_reasoner.h"
#include "driftless/reason/linear_layers.h"

#include "tests/engine/random_model.h"

namespace {

std::atomic<int64_t> allocations{0};

void* counted(size_t size, size_t alignment) {
  ++allocations;
  void* const memory =
      std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

// g++ inlines these definitions of new and delete and then takes them for a mismatched pair.
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"

void* operator new(size_t size) { return counted(size, 16); }
void* operator new[](size_t size) { return counted(size, 16); }
void* operator new(size_t size, std::align_val_t alignment) {
  return counted(size, static_cast<size_t>(alignment));
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, size_t, std::align_val_t) noexcept { std::free(memory); }

namespace driftless::native {
namespace {

TEST(NativeStepLoop, AllocatesNothing) {
  for (const engine::testing::NamedConfig& named : engine::testing::named_configs())
    for (const char* acts : {"mxint4,window=4", "mxint8,window=3", "int8/token"})
      for (const int64_t threads : {1, 2}) {
        const auto plan = quant::resolve({.weights = quant::parse_quant_spec("mxint4,window=4"),
                                          .acts = quant::parse_quant_spec(acts),
                                          .coverage = quant::Coverage::Linear},
                                         reason::linear_layers(named.config));
        const auto packed =
            store::pack_model(engine::testing::random_checkpoint(named.config, 3), plan);
        const auto reasoner = make_native_reasoner(packed, {.slots = 3, .threads = threads});
        EXPECT_GT(allocations, 0) << "the counter does not count";
        const std::vector<int64_t> slots = {0, 1, 2};
        const auto tokens = engine::testing::random_tokens(named.config, 1);
        for (const int64_t slot : slots) reasoner->reset(slot, {.tokens = tokens});
        const int64_t before = allocations;
        reasoner->step(slots);
        EXPECT_EQ(allocations - before, 0) << named.name << ", " << acts;
      }
}

}  // namespace
}  // namespace driftless::native
