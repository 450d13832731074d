// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <string_view>

#include <cuda_runtime.h>

#include "driftless/base/error.h"
#include "driftless/lab/cuda/hopper/mixers.h"

namespace driftless::lab::cuda {
namespace {

bool is_allowed() {
  const char* const wanted = std::getenv("DRIFTLESS_MIXERS");
  if (wanted == nullptr || *wanted == '\0') return true;
  const std::string_view name = wanted;
  DRIFTLESS_REQUIRE(name == "apart" || name == "fused", ErrorCode::InvalidArgument,
                    "DRIFTLESS_MIXERS; got '", name, "', expected fused or apart");
  return name == "fused";
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

bool has_fused_mixers() {
  static const bool kHas = is_allowed() && is_hopper();
  return kHas;
}

}  // namespace driftless::lab::cuda
