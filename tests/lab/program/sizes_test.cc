// SPDX-License-Identifier: Apache-2.0
// driftless train widen and narrow as a user meets them.
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "tests/testing/run_program.h"
#include "tests/testing/temp_dir.h"

namespace driftless::lab {
namespace {

using driftless::testing::Outcome;

Outcome resized(const std::string& verb, const std::string& out) {
  return driftless::testing::run_program("OMP_NUM_THREADS=1 " DRIFTLESS_PROGRAM " train " + verb +
                                         " models/sudoku-small.safetensors --out " + out);
}

TEST(TrainSizes, WidenAndNarrowWriteModelsThatInfoReads) {
  const driftless::testing::TempDir dir;
  const std::string out = (dir.path() / "model.safetensors").string();
  for (const auto& [verb, width] :
       {std::pair("widen", "\"hidden_size\":512"),
        std::pair("narrow --width 128 --expansion 3", "\"hidden_size\":128")}) {
    const Outcome outcome = resized(verb, out);
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    const Outcome info = driftless::testing::run_program(DRIFTLESS_PROGRAM " info " + out);
    EXPECT_NE(info.out.find(width), std::string::npos) << info.out;
  }
}

TEST(TrainSizes, WhatDoesNotFitIsRefusedAndNothingWritten) {
  const driftless::testing::TempDir dir;
  const std::string out = (dir.path() / "model.safetensors").string();
  const Outcome wider = resized("narrow --width 512", out);
  EXPECT_EQ(wider.exit_code, 10);
  EXPECT_NE(wider.err.find("got width 512"), std::string::npos) << wider.err;
  EXPECT_EQ(resized("narrow --width 0", out).exit_code, 2);
  EXPECT_EQ(resized("narrow", out).exit_code, 2);
  EXPECT_EQ(dir.entry_count(), 0);
}

}  // namespace
}  // namespace driftless::lab
