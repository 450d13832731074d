// SPDX-License-Identifier: Apache-2.0
// Several processes train as one: the same gradients, a lost rank, a resume. Skipped where the
// build has no Gloo.
#include <cmath>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "driftless/base/files/file.h"
#include "driftless/lab/train/run_state.h"

#include "tests/lab/program/train_process.h"
#include "tests/lab/tiny_run.h"
#include "tests/testing/run_program.h"
#include "tests/testing/temp_dir.h"

namespace driftless::lab {
namespace {

using driftless::testing::TempDir;
using driftless::testing::text_of;

/// A port of this machine that nobody listens on now.
int free_port() {
  const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = ::htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  ::bind(socket, reinterpret_cast<sockaddr*>(&address), size);
  ::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size);
  ::close(socket);
  return ::ntohs(address.sin_port);
}

class RankPrograms : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!DRIFTLESS_HAS_GLOO) GTEST_SKIP() << "this build has no Gloo";
  }

  /// The tiny recipe on generated boards, for that many steps.
  void write_recipe(const std::string& steps) {
    std::string text = testing::kTinyRecipe;
    const auto replace = [&](const std::string& from, const std::string& to) {
      for (size_t at = text.find(from); at != std::string::npos;
           at = text.find(from, at + to.size()))
        text.replace(at, from.size(), to);
    };
    replace("file = \"boards.csv\"", "generate = 30\nseed = 3\nextra_clues = 4");
    replace("steps = 200", "steps = " + steps);
    write_file_atomic(path("recipe.toml"),
                      text + "[output]\nlog_every = 5\ncheckpoint_every = 1\n");
  }
  [[nodiscard]] std::string path(const std::string& name) const {
    return (dir_.path() / name).string();
  }

  std::vector<std::unique_ptr<TrainProcess>> start(int64_t ranks, const std::string& out,
                                                   bool is_resumed = false) {
    const std::string port = "MASTER_PORT=" + std::to_string(free_port());
    std::vector<std::unique_ptr<TrainProcess>> processes;
    for (int64_t rank = 0; rank < ranks; ++rank)
      processes.push_back(std::make_unique<TrainProcess>(
          std::vector<std::string>{"train", path("recipe.toml"), "--out", path(out)}, is_resumed,
          std::vector<std::string>{"OMPI_COMM_WORLD_RANK=" + std::to_string(rank),
                                   "OMPI_COMM_WORLD_SIZE=" + std::to_string(ranks), port}));
    return processes;
  }
  [[nodiscard]] LoadedRun load(const std::string& out) const {
    return load_run(path(out), testing::tiny_recipe().model, at::kFloat, at::kCPU);
  }

  TempDir dir_;
};

TEST_F(RankPrograms, TwoRanksHaveTheGradientsOfOne) {
  write_recipe("1");
  for (const int64_t ranks : {1, 2})
    for (const auto& process : start(ranks, "of" + std::to_string(ranks)))
      EXPECT_EQ(process->exit_code(), 0) << process->err();
  const LoadedRun one = load("of1");
  const LoadedRun two = load("of2");
  // After one step the first moment is 0.1 times the gradient, a sum of N = boards * cells * calls
  // terms in another order: at most 2 N 2^-24 times the sum of their sizes, which for terms of
  // mixed sign is about sqrt(N) times the sum itself.
  const double terms = 16.0 * 16 * 3;
  const double bound = 2 * std::pow(terms, 1.5) * 0x1p-24;
  const at::Tensor& want = one.state.optimizer.moment1;
  const at::Tensor difference = two.state.optimizer.moment1 - want;
  EXPECT_GT(want.norm().item<double>(), 0);
  EXPECT_LT(difference.norm().item<double>(), bound * want.norm().item<double>());
  // Every board is in its slot.
  EXPECT_TRUE(at::equal(one.carry->inputs, two.carry->inputs));
  EXPECT_TRUE(at::equal(one.carry->steps, two.carry->steps));
}

TEST_F(RankPrograms, ALostRankEndsTheJobAndItResumes) {
  write_recipe("100000000");
  auto job = start(2, "run");
  job[1]->kill_when([&] { return std::filesystem::exists(path("run/state.safetensors")); });
  EXPECT_EQ(job[0]->exit_code(), 14) << job[0]->err();
  EXPECT_NE(job[0]->err().find("--resume"), std::string::npos) << job[0]->err();
  const int64_t reached = load("run").state.step;
  EXPECT_GT(reached, 0);
  write_recipe(std::to_string(reached + 10));
  for (const auto& process : start(2, "run", true))
    EXPECT_EQ(process->exit_code(), 0) << process->err();
  EXPECT_EQ(load("run").state.step, reached + 10);
  // One process goes on with the carry of both.
  write_recipe(std::to_string(reached + 20));
  EXPECT_EQ(start(1, "run", true)[0]->exit_code(), 0);
}

TEST_F(RankPrograms, ASignalToOneStopsAll) {
  write_recipe("100000000");
  auto job = start(2, "run");
  job[0]->wait_for_file(path("run/metrics.jsonl"));
  job[1]->send(SIGTERM);
  EXPECT_EQ(job[0]->exit_code(), 128 + SIGTERM) << job[0]->err();
  EXPECT_EQ(job[1]->exit_code(), 128 + SIGTERM) << job[1]->err();
}

TEST_F(RankPrograms, TheBatchMustBeDivisible) {
  write_recipe("1");
  const auto job = start(3, "run");
  for (const auto& process : job) {
    EXPECT_EQ(process->exit_code(), 11);
    EXPECT_NE(process->err().find("multiple of the 3 ranks"), std::string::npos) << process->err();
  }
}

TEST_F(RankPrograms, MpirunStartsThem) {
  if (std::system("command -v mpirun >/dev/null") != 0) GTEST_SKIP() << "no mpirun";
  write_recipe("6");
  const auto outcome = driftless::testing::run_program(
      "OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MASTER_PORT=" + std::to_string(free_port()) +
      " mpirun --allow-run-as-root --oversubscribe -n 2 " DRIFTLESS_PROGRAM " train " +
      path("recipe.toml") + " --out " + path("run"));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(load("run").state.step, 6);
}

}  // namespace
}  // namespace driftless::lab
