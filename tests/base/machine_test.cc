// SPDX-License-Identifier: Apache-2.0
#include "driftless/base/machine.h"

#include <vector>

#include <gtest/gtest.h>

namespace driftless {
namespace {

TEST(Machine, HasNames) {
  EXPECT_NE(processor_name(), "");
  EXPECT_NE(compiler_name().find("++ "), std::string::npos);
}

TEST(Machine, PeakMemoryGrowsByWhatIsTouchedAndNeverShrinks) {
  constexpr int64_t kSize = 64 << 20;
  const int64_t before = peak_memory_bytes();
  EXPECT_GT(before, 0);
  { const std::vector<char> touched(kSize, 1); }
  const int64_t after = peak_memory_bytes();
  // At least the block, were it not for memory that was free again before; at most twice the block.
  EXPECT_GT(after, kSize);
  EXPECT_LT(after - before, 2 * kSize);
}

}  // namespace
}  // namespace driftless
