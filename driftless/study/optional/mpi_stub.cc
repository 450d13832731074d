// SPDX-License-Identifier: Apache-2.0
// Stands in for mpi.cc in every program but driftless-mpi.
#include "driftless/base/error.h"
#include "driftless/study/communicator.h"

namespace driftless::study {

std::unique_ptr<Communicator> make_communicator() {
  DRIFTLESS_REQUIRE(!is_started_by_mpirun(), ErrorCode::Unsupported,
                    "mpirun: this program runs alone; start driftless-mpi, which shares a study "
                    "between processes, or run it without mpirun");
  return make_single();
}

}  // namespace driftless::study
