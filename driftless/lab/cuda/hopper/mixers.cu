// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <string_view>

#include <cuda_runtime.h>

#include "driftless/base/error.h"
#include "driftless/lab/cuda/hopper/mixers.h"

namespace driftless::lab::cuda {
namespace {

bool is_allowed(Pass pass) {
  const char* const wanted = std::getenv("DRIFTLESS_MIXERS");
  const std::string_view name = wanted == nullptr || *wanted == '\0' ? "fused" : wanted;
  DRIFTLESS_REQUIRE(name == "apart" || name == "forward" || name == "fused",
                    ErrorCode::InvalidArgument, "DRIFTLESS_MIXERS; got '", name,
                    "', expected fused, forward or apart");
  return name == "fused" || (name == "forward" && pass == Pass::Forward);
}

bool is_hopper() {
  int device = 0;
  int major = 0;
  int minor = 0;
  return cudaGetDevice(&device) == cudaSuccess &&
         cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device) == cudaSuccess &&
         cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device) == cudaSuccess &&
         major == 9 && minor == 0;
}

}  // namespace

bool has_fused_mixers(Pass pass) {
  static const bool kForward = is_allowed(Pass::Forward) && is_hopper();
  static const bool kBackward = is_allowed(Pass::Backward) && is_hopper();
  return pass == Pass::Forward ? kForward : kBackward;
}

}  // namespace driftless::lab::cuda
