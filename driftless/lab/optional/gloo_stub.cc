// SPDX-License-Identifier: Apache-2.0
#include "driftless/base/error.h"
#include "driftless/lab/ranks/ranks.h"

namespace driftless::lab {

std::shared_ptr<Ranks> join_gloo(const RankPlace& place) {
  fail(ErrorCode::Unsupported, "ranks: got ", place.size,
       " processes, expected 1; this build has no Gloo (on Debian: libgloo-dev)");
}

}  // namespace driftless::lab
