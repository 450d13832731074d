// SPDX-License-Identifier: Apache-2.0
// scripts/gpu_queue with jobs of a second: they wait for each other, are done once, and bad plans
// are named.
#include <chrono>
#include <string>

#include <gtest/gtest.h>

#include "driftless/base/files/file.h"

#include "tests/lab/program/train_process.h"
#include "tests/testing/run_program.h"
#include "tests/testing/temp_dir.h"

namespace driftless::lab {
namespace {

using driftless::testing::Outcome;
using driftless::testing::run_program;
using driftless::testing::text_of;

class GpuQueue : public ::testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) const {
    write_file_atomic(dir_.path() / name, text);
  }
  [[nodiscard]] std::string path(const std::string& name) const {
    return (dir_.path() / name).string();
  }
  /// `machine` is a folder that stands for one; arguments follow the plan.
  [[nodiscard]] Outcome run(const std::string& plan, const std::string& machine = "work",
                            const std::string& arguments = "60 out") const {
    write("plan.toml", plan);
    return run_program("cd " + dir_.path().string() +
                       " && OMP_NUM_THREADS=1 DEVICE=cpu WORK=" + path(machine) +
                       " BINARY=" + std::filesystem::absolute(DRIFTLESS_PROGRAM).string() + " " +
                       std::filesystem::absolute(DRIFTLESS_SOURCE "/scripts/gpu_queue").string() +
                       " plan.toml " + arguments);
  }
  /// The files of the results.
  [[nodiscard]] std::string results() const {
    return run_program("tar -tf " + path("out/results.tar.0")).out;
  }

  driftless::testing::TempDir dir_;
};

constexpr const char* kPlan = R"(
[[job]]
name = "float"
train = "recipe.toml"
set = { steps = 5, lr = 2e-3 }

[[job]]
name = "quantized"
qat = "qat.toml"
from = "@float"
set = { steps = 3 }
)";
constexpr const char* kLayers = R"({"version": 1, "layers": {
    "L_level.layers.0.mlp_t.gate_up_proj.weight": {"weights": "mxint4", "acts": "mxint4"}}})";

TEST_F(GpuQueue, RunsAJobAfterTheOneItNeeds) {
  write("recipe.toml", kProgramRecipe);
  write("qat.toml", std::string(kProgramRecipe) + "[quant]\nplan = \"layers.json\"\n");
  write("layers.json", kLayers);
  const Outcome first = run(kPlan);
  ASSERT_EQ(first.exit_code, 0) << first.out << first.err;
  EXPECT_NE(first.out.find("2 of 2 jobs are done"), std::string::npos) << first.out;
  EXPECT_LT(first.out.find("float"), first.out.find("quantized")) << first.out;
  for (const char* file : {"float/run/weights.safetensors", "quantized/run/plan.json"})
    EXPECT_NE(results().find(file), std::string::npos) << file;
  EXPECT_TRUE(std::filesystem::exists(path("work/queue/float/run/float.safetensors")))
      << "the name that records of the job's model show";

  const Outcome second = run(kPlan);
  EXPECT_EQ(second.out.find("quantized"), std::string::npos) << second.out;
  EXPECT_NE(second.out.find("2 of 2 jobs are done"), std::string::npos) << second.out;
  EXPECT_EQ(results().find("weights.safetensors"), std::string::npos)
      << "given by the first call already";
}

TEST_F(GpuQueue, GoesOnOnAnotherMachine) {
  write("recipe.toml", kProgramRecipe);
  const std::string plan = R"(
[[job]]
name = "short"
train = "recipe.toml"
set = { steps = 5 }
[[job]]
name = "long"
train = "recipe.toml"
set = { steps = 1000000 }
)";
  // 20 seconds are kept for saving.
  const Outcome first = run(plan, "work", "24 out");
  ASSERT_NE(first.out.find("1 of 2 jobs are done"), std::string::npos) << first.out << first.err;
  for (const char* file : {"short/done", "long/run/state.safetensors"})
    EXPECT_NE(results().find(file), std::string::npos) << file;
  ASSERT_EQ(
      run_program("mkdir " + path("earlier") + " && " DRIFTLESS_SOURCE "/scripts/pieces join " +
                  path("out") + " - | tar -xf - -C " + path("earlier"))
          .exit_code,
      0);
  EXPECT_LT(std::filesystem::file_size(path("earlier/long/run/state.safetensors")),
            std::filesystem::file_size(path("work/queue/long/run/state.safetensors")) * 3 / 4)
      << "states travel";

  const Outcome second = run(plan, "another", "24 out2 earlier");
  EXPECT_EQ(second.out.find("short"), std::string::npos) << second.out;
  EXPECT_NE(second.out.find("1 of 2 jobs are done"), std::string::npos) << second.out << second.err;
  EXPECT_TRUE(std::filesystem::exists(path("another/queue/short/run/short.safetensors")));
  const std::string metrics = "long/run/metrics.jsonl";
  const std::string before = text_of(path("earlier/" + metrics));
  const std::string after = text_of(path("another/queue/" + metrics));
  EXPECT_GT(after.size(), before.size());
  EXPECT_EQ(after.substr(0, before.size()), before);

  const Outcome wrong = run(plan, "third", "24 out3 nowhere");
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_NE(wrong.err.find("EARLIER: no folder 'nowhere'"), std::string::npos) << wrong.err;
}

TEST_F(GpuQueue, DoesNotWaitForAJobThatFailed) {
  const auto start = std::chrono::steady_clock::now();
  write("qat.toml", kProgramRecipe);
  const Outcome outcome = run(R"(
[[job]]
name = "broken"
command = ["no such verb"]
[[job]]
name = "after"
qat = "qat.toml"
from = "@broken"
[[job]]
name = "last"
eval = "@after"
data = "boards.csv"
)");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("broken"), std::string::npos) << outcome.out;
  EXPECT_EQ(outcome.out.find("after"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("0 of 3 jobs are done"), std::string::npos) << outcome.out;
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(30))
      << "waited for the limit, 60 s less 20 to save";
}

TEST_F(GpuQueue, NamesWhatIsWrongWithAPlan) {
  write("recipe.toml", kProgramRecipe);
  const auto expect_refused = [&](const std::string& plan, const std::string& word) {
    const Outcome outcome = run(plan);
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_NE(outcome.err.find(word), std::string::npos) << outcome.err;
  };
  expect_refused("[[job]]\nname = \"a\"\n", "job 'a': no kind; expected one of bench, train");
  expect_refused("[[job]]\nname = \"a\"\neval = \"@b\"\ndata = \"d\"\n", "job 'a': needs 'b'");
  expect_refused("[[job]]\nname = \"a\"\ntrain = \"recipe.toml\"\nset = { lrr = 1 }\n",
                 "job 'a': 0 lines of recipe.toml set lrr");
  expect_refused("[[job]]\nname = \"a\"\ntrain = \"none.toml\"\n", "none.toml");
}

}  // namespace
}  // namespace driftless::lab
