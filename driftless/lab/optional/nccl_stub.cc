// SPDX-License-Identifier: Apache-2.0
#include "driftless/base/error.h"
#include "driftless/lab/ranks/ranks.h"

namespace driftless::lab {

std::shared_ptr<Ranks> join_nccl(const RankPlace& place, at::Device) {
  fail(ErrorCode::Unsupported, "ranks: got ", place.size,
       " processes on CUDA, expected 1; this build has no NCCL (it needs nccl.h beside torch)");
}

}  // namespace driftless::lab
