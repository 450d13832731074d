// SPDX-License-Identifier: Apache-2.0
// Ranks over torch's NCCL, one CUDA device each.
#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include "driftless/lab/ranks/collectives.h"
#include "driftless/lab/ranks/ranks.h"

namespace driftless::lab {

std::shared_ptr<Ranks> join_nccl(const RankPlace& place, at::Device) {
  return join_collectives(place, [&](const auto& store) {
    auto options = c10d::ProcessGroupNCCL::Options::create();
    options->timeout = kPatience;
    return c10::make_intrusive<c10d::ProcessGroupNCCL>(store, static_cast<int>(place.rank),
                                                       static_cast<int>(place.size), options);
  });
}

}  // namespace driftless::lab
