// SPDX-License-Identifier: Apache-2.0
// Ranks over torch's Gloo, for training on CPUs.
#include <chrono>
#include <utility>
#include <vector>

#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include "driftless/lab/ranks/collectives.h"
#include "driftless/lab/ranks/ranks.h"

namespace driftless::lab {

std::shared_ptr<Ranks> join_gloo(const RankPlace& place) {
  return join_collectives(place, [&](const auto& store) {
    auto options = c10d::ProcessGroupGloo::Options::create(kPatience);
    options->devices.push_back(place.host == "127.0.0.1"
                                   ? c10d::ProcessGroupGloo::createDeviceForHostname(place.host)
                                   : c10d::ProcessGroupGloo::createDefaultDevice());
    return c10::make_intrusive<c10d::ProcessGroupGloo>(store, static_cast<int>(place.rank),
                                                       static_cast<int>(place.size), options);
  });
}

}  // namespace driftless::lab
