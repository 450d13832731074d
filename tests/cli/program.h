// SPDX-License-Identifier: Apache-2.0
// The driftless program as the tests of this folder run it.
#pragma once

#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "tests/testing/run_program.h"

namespace driftless::cli_testing {

using testing::Outcome;

/// A Sudoku with one solution.
inline const std::string kBoard =
    "23...59....49....8.1.....461...9..6...7.....98...36.17...7..65.5...13...........2";

inline Outcome driftless(const std::string& arguments, const std::string& environment = "") {
  return testing::run_program(environment + " " DRIFTLESS_PROGRAM " " + arguments);
}

/// A failure: that exit code, one line that holds the word, nothing on stdout.
inline void expect_failure(const Outcome& outcome, int exit_code, const std::string& word) {
  EXPECT_EQ(outcome.exit_code, exit_code) << outcome.err;
  EXPECT_NE(outcome.err.find(word), std::string::npos) << outcome.err;
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  EXPECT_EQ(outcome.out, "");
}

}  // namespace driftless::cli_testing
