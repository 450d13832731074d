// SPDX-License-Identifier: Apache-2.0
#include "driftless/lab/ranks/ranks.h"

#include <map>
#include <string>

#include <gtest/gtest.h>

#include "tests/testing/expect_error.h"

namespace driftless::lab {
namespace {

using driftless::testing::expect_error;

RankPlace place_in(const std::map<std::string, std::string>& variables) {
  return find_place([&](const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

TEST(FindPlace, ReadsTheLaunchers) {
  const RankPlace alone = place_in({});
  EXPECT_EQ(alone.rank, 0);
  EXPECT_EQ(alone.size, 1);
  const RankPlace mpi = place_in({{"OMPI_COMM_WORLD_RANK", "5"},
                                  {"OMPI_COMM_WORLD_SIZE", "8"},
                                  {"OMPI_COMM_WORLD_LOCAL_RANK", "1"},
                                  {"MASTER_ADDR", "node7"},
                                  {"MASTER_PORT", "4000"}});
  EXPECT_EQ(mpi.rank, 5);
  EXPECT_EQ(mpi.size, 8);
  EXPECT_EQ(mpi.local_rank, 1);
  EXPECT_EQ(mpi.host, "node7");
  EXPECT_EQ(mpi.port, 4000);
  const RankPlace slurm = place_in({{"SLURM_PROCID", "1"}, {"SLURM_STEP_NUM_TASKS", "2"}});
  EXPECT_EQ(slurm.rank, 1);
  EXPECT_EQ(slurm.size, 2);
  EXPECT_EQ(slurm.port, 29500);
  // A batch script is one process, whatever the job's size.
  EXPECT_EQ(place_in({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "4"}}).size, 1);
}

TEST(FindPlace, WrongValues) {
  expect_error(ErrorCode::BadConfig, "OMPI_COMM_WORLD_RANK", [] {
    place_in({{"OMPI_COMM_WORLD_RANK", "2"}, {"OMPI_COMM_WORLD_SIZE", "2"}});
  });
  expect_error(ErrorCode::BadConfig, "SLURM_STEP_NUM_TASKS", [] {
    place_in({{"SLURM_PROCID", "0"}, {"SLURM_STEP_NUM_TASKS", "many"}});
  });
  expect_error(ErrorCode::BadConfig, "MASTER_PORT", [] { place_in({{"MASTER_PORT", "70000"}}); });
}

TEST(Ranks, OneIsNoJob) {
  const auto alone = join_ranks({}, at::kCPU);
  EXPECT_EQ(alone->size(), 1);
  at::Tensor values = at::ones({3});
  alone->sum(values);
  EXPECT_TRUE(at::equal(values, at::ones({3})));
  EXPECT_TRUE(at::equal(alone->gather(values), values));
  EXPECT_TRUE(alone->any(true, at::kCPU));
  EXPECT_FALSE(alone->any(false, at::kCPU));
}

}  // namespace
}  // namespace driftless::lab
