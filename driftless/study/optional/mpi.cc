// SPDX-License-Identifier: Apache-2.0
// MPI through its C interface.
#include <exception>
#include <limits>

#include <mpi.h>

#include "driftless/base/error.h"
#include "driftless/study/communicator.h"

namespace driftless::study {
namespace {

constexpr int kTag = 1;

int to_int(int64_t count) {
  DRIFTLESS_REQUIRE(count <= std::numeric_limits<int>::max(), ErrorCode::Unsupported,
                    "mpi: message; got ", count, " bytes, expected less than 2^31");
  return static_cast<int>(count);
}

class Mpi : public Communicator {
 public:
  Mpi() {
    MPI_Init(nullptr, nullptr);
    int value = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &value);
    rank_ = value;
    MPI_Comm_size(MPI_COMM_WORLD, &value);
    size_ = value;
  }
  Mpi(const Mpi&) = delete;
  Mpi& operator=(const Mpi&) = delete;
  /// After an error the others would wait for ever in MPI_Finalize; mpirun ends them instead when
  /// this process leaves without it.
  ~Mpi() override {
    if (std::uncaught_exceptions() == 0) MPI_Finalize();
  }

  [[nodiscard]] int64_t rank() const override { return rank_; }
  [[nodiscard]] int64_t size() const override { return size_; }

  void send(std::span<const uint8_t> bytes) override {
    MPI_Send(bytes.data(), to_int(std::ssize(bytes)), MPI_BYTE, 0, kTag, MPI_COMM_WORLD);
  }

  [[nodiscard]] std::vector<uint8_t> receive(int64_t rank) override {
    MPI_Status status;
    int count = 0;
    MPI_Probe(to_int(rank), kTag, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_BYTE, &count);
    std::vector<uint8_t> bytes(static_cast<size_t>(count));
    MPI_Recv(bytes.data(), count, MPI_BYTE, to_int(rank), kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return bytes;
  }

  [[nodiscard]] std::vector<uint8_t> broadcast(std::vector<uint8_t> bytes) override {
    int count = to_int(std::ssize(bytes));
    MPI_Bcast(&count, 1, MPI_INT, 0, MPI_COMM_WORLD);
    bytes.resize(static_cast<size_t>(count));
    MPI_Bcast(bytes.data(), count, MPI_BYTE, 0, MPI_COMM_WORLD);
    return bytes;
  }

 private:
  int64_t rank_ = 0;
  int64_t size_ = 1;
};

}  // namespace

std::unique_ptr<Communicator> make_communicator() {
  if (!is_started_by_mpirun()) return make_single();
  return std::make_unique<Mpi>();
}

}  // namespace driftless::study
