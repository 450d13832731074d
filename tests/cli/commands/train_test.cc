// SPDX-License-Identifier: Apache-2.0
// The verbs that need libtorch: where the build lacks it they exist and say how to get it.
#include <string>

#include <gtest/gtest.h>

#include "tests/cli/program.h"

namespace driftless::cli_testing {
namespace {

constexpr int kUnsupported = 13;

TEST(TrainCommand, WithoutLibtorchSaysHowToGetIt) {
  if (DRIFTLESS_HAS_LAB) GTEST_SKIP() << "this build has libtorch";
  for (const char* arguments :
       {"train recipe.toml", "train check", "train disjoint recipe.toml", "train widen a --out b",
        "train narrow a --width 8 --out b", "train travel a --out b", "bench train recipe.toml"})
    expect_failure(driftless(arguments), kUnsupported, "libtorch-dev");
}

TEST(TrainCommand, NeedsARecipe) { expect_failure(driftless("train"), 10, "recipes/"); }

TEST(TrainCommand, HelpNamesTheExitCodeOfSignals) {
  const Outcome help = driftless("train --help");
  EXPECT_EQ(help.exit_code, 0);
  EXPECT_NE(help.out.find("128 + the signal"), std::string::npos) << help.out;
  expect_failure(driftless("train recipe.toml --resum"), 2, "--resume");
}

}  // namespace
}  // namespace driftless::cli_testing
