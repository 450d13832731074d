// SPDX-License-Identifier: Apache-2.0
// driftless export as a user calls it.
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
  for (const char* line :
       {"flash: 714264 bytes of constants",
        "RAM: 187728 bytes in plain C (the schedule needs 187726), 201872 with DSP",
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
  refuses(kPacked + " " + out + " --ram 100000", 10,
          "arena with kernels in plain C; the model has 187728 bytes");
  refuses(kPacked + " " + out + " --flash 262144", 10, "constants; the model has 714264 bytes");
  refuses(kPacked + " " + out + " --kernels avx", 10, "kernels; got 'avx'");
  refuses(std::string(DRIFTLESS_MODEL) + " " + out, 13, "expected a packed one");
  refuses(kPacked, 2, "OUT");
}

TEST(ExportCommand, NeverWritesOverTheModel) {
  const TempDir dir;
  const auto model = dir.path() / "net.h";
  std::filesystem::copy_file(kPacked, model);
  const auto ran =
      driftless("export c " + model.string() + " " + dir.path().string() + " --name net");
  EXPECT_EQ(ran.exit_code, 10) << ran.err;
  EXPECT_NE(ran.err.find("OUT: MODEL reads that file"), std::string::npos) << ran.err;
  EXPECT_EQ(dir.entry_count(), 1);
  EXPECT_EQ(testing::text_of(model), testing::text_of(kPacked));
}

TEST(ExportCommand, WritesOnnxGraphs) {
  const TempDir dir;
  const std::string out = (dir.path() / "sudoku.onnx").string();
  const auto writes = [&](const std::string& flags, const char* words) {
    const auto ran = driftless("export onnx " + std::string(DRIFTLESS_MODEL) + " " + out + flags);
    EXPECT_EQ(ran.exit_code, 0) << ran.err;
    EXPECT_NE(ran.out.find(words), std::string::npos) << words << " is not in: " << ran.out;
    return std::filesystem::file_size(out);
  };
  const auto floats = writes("", "one step, float32");
  const auto int8 = writes(" --precision int8", "one step, int8");
  const auto int4 = writes(" --precision int4 --solve --steps 3", "a whole solve, int4");
  EXPECT_LT(int8, floats / 3);
  EXPECT_LT(int4, int8);
}

TEST(ExportCommand, WritesNoGraphWhereItRefuses) {
  const TempDir dir;
  const std::string out = (dir.path() / "sudoku.onnx").string();
  const std::string model = DRIFTLESS_MODEL;
  const auto refuses = [&](const std::string& arguments, int code, const char* word) {
    const auto ran = driftless("export onnx " + arguments);
    EXPECT_EQ(ran.exit_code, code) << ran.err;
    EXPECT_NE(ran.err.find(word), std::string::npos) << word << " is not in: " << ran.err;
    EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << ran.err;
    EXPECT_FALSE(std::filesystem::exists(out));
  };
  refuses(kPacked + " " + out, 13, "got a packed model, expected a float one");
  refuses(model + " " + out + " --precision int5", 2, "int4");
  refuses(model + " " + out + " --steps 3", 2, "--solve");
  refuses(model + " " + out + " --solve --steps 0", 2, "--steps");
  refuses(model + " " + (dir.path() / "no" / "folder.onnx").string(), 14, "folder.onnx");
  refuses(model + " " + model, 10, "MODEL");
  refuses(model, 2, "OUT");
}

}  // namespace
}  // namespace driftless::cli_testing
