// SPDX-License-Identifier: Apache-2.0
#include "driftless/study/communicator.h"

#include <cstdlib>
#include <string_view>

#include "driftless/base/error.h"
#include "driftless/base/text/text.h"

namespace driftless::study {
namespace {

class Single : public Communicator {
 public:
  [[nodiscard]] int64_t rank() const override { return 0; }
  [[nodiscard]] int64_t size() const override { return 1; }
  void send(std::span<const uint8_t>) override { DRIFTLESS_ASSERT(false); }
  [[nodiscard]] std::vector<uint8_t> receive(int64_t) override {
    DRIFTLESS_ASSERT(false);
    return {};
  }
  [[nodiscard]] std::vector<uint8_t> broadcast(std::vector<uint8_t> bytes) override {
    return bytes;
  }
};

}  // namespace

std::unique_ptr<Communicator> make_single() { return std::make_unique<Single>(); }

bool is_started_by_mpirun() {
  // Open MPI's own variable, then that of launchers that speak PMI.
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"}) {
    const char* const text = std::getenv(name);
    if (text != nullptr && parse_int(text).value_or(1) > 1) return true;
  }
  return false;
}

}  // namespace driftless::study
