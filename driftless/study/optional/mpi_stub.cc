// SPDX-License-Identifier: Apache-2.0
#include "driftless/base/error.h"
#include "driftless/study/communicator.h"

namespace driftless::study {

std::unique_ptr<Communicator> make_communicator() {
  DRIFTLESS_REQUIRE(!is_started_by_mpirun(), ErrorCode::Unsupported,
                    "mpirun: this program was built without MPI; install libopenmpi-dev and "
                    "openmpi-bin and configure again, or run it without mpirun");
  return make_single();
}

}  // namespace driftless::study
