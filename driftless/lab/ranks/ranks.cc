// SPDX-License-Identifier: Apache-2.0
#include "driftless/lab/ranks/ranks.h"

#include <array>

#include "driftless/base/error.h"
#include "driftless/base/text/text.h"

namespace driftless::lab {
namespace {

struct Launcher {
  const char* rank;
  const char* size;
  const char* local_rank;
};
// A batch script of Slurm has SLURM_PROCID too; only the tasks of srun have the step's size.
constexpr std::array kLaunchers = {
    Launcher{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK"},
    Launcher{"SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID"}};

constexpr const char* kDefaultHost = "127.0.0.1";
constexpr const char* kDefaultPort = "29500";

int64_t whole_number(const char* name, const char* text, int64_t most) {
  const auto value = parse_int(text);
  DRIFTLESS_REQUIRE(value.has_value() && *value >= 0 && *value <= most, ErrorCode::BadConfig, name,
                    ": got '", text, "', expected a number from 0 to ", most);
  return *value;
}

}  // namespace

bool Ranks::any(bool is_mine, at::Device device) {
  if (size() == 1) return is_mine;
  at::Tensor flag = at::full({1}, is_mine ? 1.0f : 0.0f, at::kFloat).to(device);
  sum(flag);
  return flag.item<float>() > 0;
}

RankPlace find_place(const std::function<const char*(const char*)>& environment) {
  constexpr int64_t kMostRanks = 65536;
  const auto text = [&](const char* name, const char* fallback) {
    const char* value = environment(name);
    return value == nullptr ? fallback : value;
  };
  RankPlace place;
  for (const Launcher& launcher : kLaunchers) {
    const char* rank = environment(launcher.rank);
    const char* size = environment(launcher.size);
    if (rank == nullptr || size == nullptr) continue;
    place.size = whole_number(launcher.size, size, kMostRanks);
    place.rank = whole_number(launcher.rank, rank, place.size - 1);
    place.local_rank =
        whole_number(launcher.local_rank, text(launcher.local_rank, "0"), kMostRanks);
    break;
  }
  place.host = text("MASTER_ADDR", kDefaultHost);
  place.port = whole_number("MASTER_PORT", text("MASTER_PORT", kDefaultPort), 65535);
  return place;
}

std::shared_ptr<Ranks> join_ranks(const RankPlace& place, at::Device device) {
  if (place.size == 1) return std::make_shared<Ranks>();
  return device.is_cuda() ? join_nccl(place, device) : join_gloo(place);
}

}  // namespace driftless::lab
