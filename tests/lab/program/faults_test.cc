// SPDX-License-Identifier: Apache-2.0
// Fails the n-th open, read, write, sync, rename and new name of a training run, cuts its power and
// fills its disk. Each run ends in success or in one line and a documented code, and the same
// command, with --resume where a run was saved, then ends with the files of an undisturbed one. The
// calls tried grow apart; with DRIFTLESS_SOAK every one is.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "driftless/base/files/file.h"

#include "tests/lab/program/train_process.h"
#include "tests/testing/run_program.h"
#include "tests/testing/temp_dir.h"

namespace driftless::lab {
namespace {

namespace fs = std::filesystem;
using driftless::testing::Outcome;
using driftless::testing::TempDir;
using driftless::testing::text_of;

std::string edited(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

/// Training or, with its weights, training through a format.
class TrainFaults : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const std::string few = edited(kProgramRecipe, "steps = 60", "steps = 6");
    write_file_atomic(dir_.path() / "train.toml", few);
    write_file_atomic(dir_.path() / "qat.toml",
                      edited(few, "[eval]",
                             "[quant]\nweights = \"int4/tensor\"\nacts = \"int4/tensor/static\"\n"
                             "calibration_boards = 4\n[eval]"));
    const Outcome outcome = run("train", dir_.path() / "float");
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    expected_ = dir_.path() / "float";
    if (verb() == "train") return;
    expected_ = dir_.path() / "expected";
    ASSERT_EQ(run(verb(), expected_).exit_code, 0);
  }
  void TearDown() override { std::printf("cases: %lld\n", static_cast<long long>(cases_)); }

  [[nodiscard]] static std::string verb() { return GetParam(); }

  /// One thread: the others that libraries start are not ours to fail.
  [[nodiscard]] Outcome run(const std::string& verb, const fs::path& out,
                            const std::string& environment = "") const {
    const bool is_saved = fs::exists(out / "state.safetensors");
    const std::string from = " --from " + (dir_.path() / "float/weights.safetensors").string();
    return driftless::testing::run_program(
        "OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 " + environment + " " DRIFTLESS_PROGRAM " " +
        verb + " " + (dir_.path() / (verb + ".toml")).string() + " --out " + out.string() +
        (is_saved        ? " --resume"
         : verb == "qat" ? from
                         : ""));
  }

  /// Whether the call came.
  bool run_with(const std::string& fault) {
    ++cases_;
    const TempDir folder;
    const fs::path out = folder.path() / "run";
    const fs::path mark = folder.path() / "mark";
    const Outcome outcome = run(verb(), out,
                                "DRIFTLESS_FAIL=" + fault + " DRIFTLESS_FAILED=" + mark.string() +
                                    " LD_PRELOAD='" DRIFTLESS_FAIL_CALLS "'");
    const bool came = fs::exists(mark);
    const bool is_cut = fault.starts_with("cut") && came;
    const bool is_known =
        outcome.exit_code == 0 || (outcome.exit_code >= 10 && outcome.exit_code <= 16);
    EXPECT_TRUE(is_known || is_cut) << fault << ": " << outcome.exit_code << " " << outcome.err;
    if (outcome.exit_code != 0) {
      EXPECT_TRUE(is_cut || outcome.err.find("driftless: ") != std::string::npos)
          << fault << outcome.err;
      const Outcome again = run(verb(), out);
      EXPECT_EQ(again.exit_code, 0) << fault << ": " << outcome.err << again.err;
    }
    for (const char* const file : {"state.safetensors", "weights.safetensors"})
      EXPECT_EQ(text_of(out / file), text_of(expected_ / file)) << fault << ": " << file;
    for (const auto& entry : fs::directory_iterator(out))
      EXPECT_EQ(entry.path().string().find(".tmp."), std::string::npos) << fault << entry.path();
    return came;
  }

  TempDir dir_;
  fs::path expected_;
  int64_t cases_ = 0;
};

TEST_P(TrainFaults, EndInOneLineAndTheNextRunEndsAsIfNothingHadBeen) {
  const bool is_soak = std::getenv("DRIFTLESS_SOAK") != nullptr;
  for (const std::string kind :
       {"open", "read", "write", "fsync", "rename", "mkostemp", "full", "cut"})
    for (int64_t n = 1; n < 100000; n = is_soak ? n + 1 : 4 * n)
      if (!run_with(kind + ":" + std::to_string(n)) || HasFailure()) break;
}

INSTANTIATE_TEST_SUITE_P(Of, TrainFaults, ::testing::Values("train", "qat"),
                         [](const auto& param) { return std::string(param.param); });

}  // namespace
}  // namespace driftless::lab
