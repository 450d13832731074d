// SPDX-License-Identifier: Apache-2.0
// driftless export c as a user calls it.
#include <algorithm>
#include <filesystem>

#include <gtest/gtest.h>

#include "tests/cli/program.h"
#include "tests/testing/temp_dir.h"

namespace driftless::cli_testing {
namespace {

using driftless::testing::TempDir;

const std::string kPacked = DRIFTLESS_PACKED_MODEL;

TEST(ExportCommand, WritesSourcesAndSaysTheirSizes) {
  const TempDir dir;
  const std::string out = (dir.path() / "deep" / "firmware").string();
  const auto ran = driftless("export c " + kPacked + " " + out + " --name sudoku");
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  for (const char* line : {"flash: 714264 bytes of constants", "RAM: 186000 bytes (187536 with DSP",
                           "a step: 2675442176 multiply-adds", "self-test: hash 33d5df518f5adc3a"})
    EXPECT_NE(ran.out.find(line), std::string::npos) << line << " is not in: " << ran.out;
  for (const char* name : {"sudoku.h", "sudoku.c", "sudoku_kernels_dsp.c", "sudoku_kernels_mve.c",
                           "sudoku_kernels_riscv.c"})
    EXPECT_TRUE(std::filesystem::exists(std::filesystem::path(out) / name)) << name;
}

TEST(ExportCommand, WritesNothingWhereItRefuses) {
  const TempDir dir;
  const std::string out = (dir.path() / "firmware").string();
  const auto refuses = [&](const std::string& arguments, int code, const char* word) {
    const auto ran = driftless("export c " + arguments);
    EXPECT_EQ(ran.exit_code, code) << ran.err;
    EXPECT_NE(ran.err.find(word), std::string::npos) << word << " is not in: " << ran.err;
    EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << ran.err;
    EXPECT_FALSE(std::filesystem::exists(out));
  };
  refuses(kPacked + " " + out + " --name 9lives", 10, "expected a letter");
  refuses(kPacked + " " + out + " --ram 100000", 10, "arena; the model has 186000 bytes");
  refuses(kPacked + " " + out + " --flash 262144", 10, "constants; the model has 714264 bytes");
  refuses(kPacked + " " + out + " --kernels avx", 10, "kernels; got 'avx'");
  refuses(std::string(DRIFTLESS_MODEL) + " " + out, 13, "expected a packed one");
  refuses(kPacked, 2, "OUT");
}

}  // namespace
}  // namespace driftless::cli_testing
