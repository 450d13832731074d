// SPDX-License-Identifier: Apache-2.0
// The processes of a data-parallel job, started by mpirun or srun. Every process calls the same
// operations in the same order. One process alone needs none of this: Ranks itself is that case.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <ATen/ATen.h>

namespace driftless::lab {

class Ranks {
 public:
  Ranks() = default;
  virtual ~Ranks() = default;
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;

  [[nodiscard]] virtual int64_t rank() const { return 0; }
  [[nodiscard]] virtual int64_t size() const { return 1; }

  /// Replaces `values` by their sum over the ranks, the same bits on every rank; nothing to sum
  /// needs no meeting. Throws Io when a rank is lost, at most kPatience after it stopped answering.
  virtual void sum(at::Tensor& /*values*/) {}
  /// The ranks' tensors, equal in shape, one after the other along the first axis. Throws as sum.
  virtual at::Tensor gather(const at::Tensor& part) { return part; }

  /// Whether any rank says yes.
  bool any(bool is_mine, at::Device device);
};

/// How long a rank waits for the others, which may be busy evaluating or saving.
constexpr int64_t kPatienceSeconds = 120;

/// Where a process stands among its siblings, as its launcher says.
struct RankPlace {
  int64_t rank = 0;
  int64_t size = 1;
  int64_t local_rank = 0;  ///< among those of the same machine
  std::string host;        ///< where rank 0 listens
  int64_t port = 0;
};

/// Reads OMPI_COMM_WORLD_* (mpirun) or SLURM_PROCID and SLURM_STEP_NUM_TASKS (srun); MASTER_ADDR
/// and MASTER_PORT say where rank 0 listens, 127.0.0.1 and 29500 unless set. One process without a
/// launcher is rank 0 of 1. Throws BadConfig on values that are no rank, size or port.
RankPlace find_place(const std::function<const char*(const char* name)>& environment);

/// Meets the other ranks: over Gloo for a CPU, NCCL for CUDA. Throws Unsupported where the build
/// lacks it and Io when not all ranks come within kPatienceSeconds.
std::shared_ptr<Ranks> join_ranks(const RankPlace& place, at::Device device);

/// The two transports, for join_ranks.
std::shared_ptr<Ranks> join_gloo(const RankPlace& place);
std::shared_ptr<Ranks> join_nccl(const RankPlace& place, at::Device device);

}  // namespace driftless::lab
