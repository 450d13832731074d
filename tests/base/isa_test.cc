// SPDX-License-Identifier: Apache-2.0
#include "driftless/base/isa.h"

#include <algorithm>
#include <cstdlib>
#include <string>

#include <gtest/gtest.h>

#include "tests/testing/expect_error.h"

namespace driftless {
namespace {

struct Limit {
  explicit Limit(const std::string& isa) { setenv("DRIFTLESS_ISA", isa.c_str(), 1); }
  ~Limit() { unsetenv("DRIFTLESS_ISA"); }
  Limit(const Limit&) = delete;
  Limit& operator=(const Limit&) = delete;
};

TEST(Isa, BuildsOnOthersDownToScalar) {
  ASSERT_FALSE(isas().empty());
  EXPECT_EQ(isas().back().name, "scalar");
  EXPECT_TRUE(can_run("scalar"));
  EXPECT_FALSE(can_run("mmx"));
  for (const Isa& isa : isas()) {
    EXPECT_TRUE(is_part_of(isa.name, isa.name)) << isa.name;
    EXPECT_TRUE(is_part_of("scalar", isa.name)) << isa.name;
    EXPECT_EQ(is_part_of(isa.name, "scalar"), isa.name == "scalar");
    // Better ones come first, so that what one builds on lies behind it.
    const auto base = std::find_if(isas().begin(), isas().end(),
                                   [&](const Isa& other) { return other.name == isa.builds_on; });
    EXPECT_EQ(base == isas().end(), isa.name == "scalar");
    EXPECT_TRUE(base == isas().end() || base > isas().begin() + (&isa - isas().data()));
  }
}

TEST(Isa, LimitIsWhatTheEnvironmentNames) {
  EXPECT_EQ(isa_limit(), "");
  for (const Isa& isa : isas()) {
    const Limit limit{std::string(isa.name)};
    if (!can_run(isa.name)) {
      EXPECT_ERROR(isa_limit(), ErrorCode::InvalidArgument, "expected one of");
      continue;
    }
    EXPECT_EQ(isa_limit(), isa.name);
    for (const Isa& other : isas())
      EXPECT_EQ(is_allowed(other.name), is_part_of(other.name, isa.name)) << other.name;
  }
  const Limit wrong("mmx");
  EXPECT_ERROR(isa_limit(), ErrorCode::InvalidArgument, "got 'mmx'");
}

TEST(Isa, KernelsAreTheBestThatMayRun) {
  constexpr int kBest = 2, kPlain = 1, kScalar = 0;
  const std::string_view best = isas().front().name;
  const std::vector<KernelCandidate<int>> compiled = {{&kBest, best}, {&kPlain, "scalar"}};
  const auto all = runnable<int>(compiled, &kScalar);
  EXPECT_EQ(all.size(), can_run(best) ? 3u : 2u);
  EXPECT_EQ(all.back(), &kScalar);
  const Limit limit("scalar");
  const auto within = allowed<int>(compiled, &kScalar);
  EXPECT_EQ(within.front(), best == "scalar" ? &kBest : &kPlain);
}

}  // namespace
}  // namespace driftless
