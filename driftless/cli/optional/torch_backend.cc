// SPDX-License-Identifier: Apache-2.0
#include "driftless/cli/backend.h"
#include "driftless/lab/torch_reasoner.h"

namespace driftless::cli {
namespace {

// Enough boards to fill a large device; a CPU gains nothing from more than a few.
constexpr int64_t kCudaSlots = 1024;
constexpr int64_t kCpuSlots = 32;

}  // namespace

std::unique_ptr<reason::Reasoner> make_torch_backend(const store::Checkpoint& checkpoint,
                                                     const BackendOptions& options) {
  const bool is_cuda = options.device == "cuda";
  const int64_t usual = is_cuda ? kCudaSlots : kCpuSlots;
  return lab::make_torch_reasoner(checkpoint, {.device = is_cuda ? "cuda" : "cpu",
                                               .slots = options.slots > 0 ? options.slots : usual,
                                               .type = lab::parse_torch_type(options.dtype),
                                               .threads = options.threads});
}

}  // namespace driftless::cli
