// SPDX-License-Identifier: Apache-2.0
// Several processes that share a study. Rank 0 collects; the others send to it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace driftless::study {

class Communicator {
 public:
  virtual ~Communicator() = default;
  [[nodiscard]] virtual int64_t rank() const = 0;
  [[nodiscard]] virtual int64_t size() const = 0;
  /// From any rank but 0 to rank 0.
  virtual void send(std::span<const uint8_t> bytes) = 0;
  /// On rank 0: the next bytes that `rank` sent.
  [[nodiscard]] virtual std::vector<uint8_t> receive(int64_t rank) = 0;
  /// Rank 0's bytes, on every rank.
  [[nodiscard]] virtual std::vector<uint8_t> broadcast(std::vector<uint8_t> bytes) = 0;
};

/// One process on its own.
std::unique_ptr<Communicator> make_single();

/// In driftless-mpi MPI where mpirun started this process, otherwise one process on its own. In
/// other programs always the latter; throws Unsupported under mpirun.
std::unique_ptr<Communicator> make_communicator();

/// Whether mpirun started this process with more than one rank, as its environment tells.
bool is_started_by_mpirun();

}  // namespace driftless::study
