// SPDX-License-Identifier: Apache-2.0
// The same comparisons that a GPU machine runs, on the CPU's own operations: the hand-written
// gradients of both sublayers against plain float64 autograd.
#include "driftless/lab/check/check.h"

#include <gtest/gtest.h>

namespace driftless::lab {
namespace {

TEST(Check, CpuAgreesWithPlainAutograd) {
  int64_t comparisons = 0;
  const bool all_passed = check_device(at::kCPU, {}, [&](const CheckResult& result) {
    ++comparisons;
    EXPECT_TRUE(result.passed()) << result.name << ": error " << result.error << ", bound "
                                 << result.bound;
  });
  EXPECT_TRUE(all_passed);
  EXPECT_GT(comparisons, 60);
}

}  // namespace
}  // namespace driftless::lab
